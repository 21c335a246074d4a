import ControlInterface
import LiveEvents
import LiveSources
import NIOCore
import RateLimiting
import Varlink

// From a lease to the first message that is read: what the daemon has of the rooms, and what the store has.
extension ClusterNode {
  /// Asks the daemon for its positions and the store for snapshots, and begins to read the partitions that wait for
  /// them.
  func begin() {
    let partitions = beginning.subtracting(loading).subtracting(releasing)
      .subtracting(restarting)
    guard !partitions.isEmpty, daemon.isConnected, requests.isConnected else { return }
    loading.formUnion(partitions)
    let (control, names) = (settings.control, Set(logs.values))
    let held = eventLoop.makePromise(of: [RoomName: Int].self)
    held.completeWithTask { try await Self.positions(control, names) }
    for partition in partitions { begin(partition, held.futureResult) }
  }

  private func begin(_ partition: Partition, _ held: EventLoopFuture<[RoomName: Int]>) {
    let run = daemon.run
    let transfer = transfer
    let node = handle
    guard let epoch = keeper.epoch(of: partition) else {
      loading.remove(partition)
      return
    }
    let log = logs[partition.stream] ?? ""
    Task {
      let loaded = await ClusterNode.load(partition, log, held, epoch, transfer)
      node.perform { $0.loaded(partition, loaded, epoch: epoch, run: run) }
    }
  }

  private static func load(
    _ partition: Partition, _ log: String, _ held: EventLoopFuture<[RoomName: Int]>,
    _ epoch: UInt64, _ transfer: SnapshotTransfer
  ) async -> Result<SnapshotTransfer.Loaded, any Error> {
    do {
      let held = try await held.get().filter { Partition(of: $0.key) == partition }
      return .success(try await transfer.load(partition, log: log, held: held, epoch: epoch))
    } catch {
      // So that what fails at once is not tried without end.
      try? await Task.sleep(for: .milliseconds(500))
      return .failure(error)
    }
  }

  private func loaded(
    _ partition: Partition, _ result: Result<SnapshotTransfer.Loaded, any Error>, epoch: UInt64,
    run: Int
  ) {
    loading.remove(partition)
    guard daemon.isConnected, daemon.run == run, keeper.epoch(of: partition) == epoch,
      beginning.contains(partition)
    else { return }
    let loaded: SnapshotTransfer.Loaded
    switch result {
    case .success(let value): loaded = value
    case .failure(let error):
      let count = (loadFailures[partition]?.count ?? 0) + 1
      loadFailures[partition] = (SnapshotTransfer.reason(error), count)
      return
    }
    let now = Delivery.now
    beginning.remove(partition)
    loadFailures[partition] = nil
    stored[partition] = loaded.stored
    snapshots.loaded += loaded.count
    snapshots.note(unusable: loaded.problems, at: now)
    for problem in loaded.problems { told("problem: \(problem)") }
    feed.begin(partition, loaded.rooms)
    consumers[partition] = LogConsumer(
      stream: partition.stream, filter: partition.logSubjects, after: loaded.through, at: now)
    catchingUp.insert(partition)
    advance(.log(partition), now)
  }

  /// Gives the daemon the rooms once more that it did not take: what it has of them by now, without what came before,
  /// is closed, and their partitions are begun anew.
  func offerRefused(_ now: Instant) {
    guard daemon.isConnected else { return }
    for (partition, rooms) in Dictionary(grouping: feed.refused, by: { Partition(of: $0) }) {
      guard !restarting.contains(partition), !rooms.contains(where: { feed.hasInFlight($0) }),
        now - (begunAnew[partition] ?? .origin) >= min(settings.snapshotInterval, .seconds(30)),
        let epoch = keeper.epoch(of: partition)
      else { continue }
      begunAnew[partition] = now
      restarting.insert(partition)
      endReading(partition)
      let (control, logs, node) = (settings.control, Set(logs.values), handle)
      Task {
        while await !ClusterNode.close(rooms, control, logs) {
          try? await Task.sleep(for: .milliseconds(500))
          // Without a daemon everything is begun anew once there is one.
          guard (try? await node.get { $0.daemon.isConnected }) ?? false else { break }
        }
        node.perform {
          $0.restarting.remove(partition)
          guard $0.keeper.epoch(of: partition) == epoch else { return }
          $0.beginning.insert(partition)
          $0.begin()
        }
      }
    }
  }

  /// Closes what the daemon has of rooms by the log. Returns whether it answers.
  private static func close(
    _ rooms: [RoomName], _ control: String, _ logs: Set<String>
  ) async -> Bool {
    guard let client = try? await ControlClient.connect(path: control) else { return false }
    for room in rooms { try? await client.closeCopy(of: room.description, by: logs) }
    await client.client.close()
    return true
  }

  /// Reads no more of a partition.
  func endReading(_ partition: Partition) {
    catchingUp.remove(partition)
    consumers[partition] = nil
    stored[partition] = nil
    feed.end(partition)
  }

  /// Tells of which partitions the daemon has the rooms now, with all that was in the log when they began.
  func noteLoaded() {
    for partition in catchingUp
    where consumers[partition]?.isCurrent == true && feed.hasCaughtUp(partition) {
      catchingUp.remove(partition)
      keeper.note(partition, isLoading: false)
    }
  }

  /// What the daemon has of the logs, by room.
  private static func positions(
    _ control: String, _ logs: Set<String>
  ) async throws -> [RoomName: Int] {
    let client = try await ControlClient.connect(path: control)
    var held: [RoomName: Int] = [:]
    for summary in try await client.listRooms().rooms {
      guard let room = RoomName(summary.room) else { continue }
      let positions = (try? await client.getPositions(room: summary.room).positions) ?? [:]
      held[room] = positions.filter { logs.contains($0.key) }.values.max()
    }
    await client.client.close()
    return held
  }
}
