import JSON
import LiveEvents
import LiveSources
import NIOCore
import RateLimiting
import SystemSupport

// What the node does with rooms of the local daemon: feeding, takeovers, release of copies, and
// snapshots.
extension ClusterNode {
  // MARK: Feeding

  func connectToDaemon() {
    daemon.connect(
      .init(
        connected: { [self] in
          takeovers.beginAnew(keeper.partitions)
          perform(keeper.resume(.noDaemon))
        },
        acknowledged: { [self] tokens in
          for token in tokens { feed.acknowledge(token) }
          feedDaemon()
        },
        writable: { [self] in feedDaemon() },
        lost: { [self] in daemonLost() }))
  }

  /// Handles the loss of the daemon. When the daemon is back, unacknowledged batches are read again
  /// from the log, starting at the positions that the daemon reports.
  private func daemonLost() {
    feed.reset()
    readers.endLogs()
    stored.endAll()
    takeovers.beginAnew(keeper.partitions)
    // If the daemon restarts, some of its rooms may be missing afterwards.
    for partition in keeper.partitions { keeper.mark(partition, isLoading: true) }
  }

  /// Writes the feed's next batches to the daemon, and carries out the host actions that are due.
  func feedDaemon() {
    if daemon.isWritable, let bytes = feed.nextWrite() { daemon.write(bytes) }
    for act in feed.nextActs() { carryOut(act) }
  }

  private func carryOut(_ act: LogFeed.Act) {
    let (acts, node) = (acts, handle)
    Task {
      let outcome = await acts.carryOut(
        act, while: { (try? await node.get { $0.feed.isActing(act) }) == true },
        started: { node.perform { $0.end(act, nil) } })
      if let outcome { node.perform { $0.end(act, outcome) } }
    }
  }

  /// Records that the daemon has carried out a host action. If the outcome is `nil`, the daemon has
  /// started the host action and its outcome will follow.
  private func end(_ act: LogFeed.Act, _ outcome: JSONValue?) {
    if feed.isActing(act) {
      let isGone = outcome.map { act.act.leavesNoRoom($0) } ?? false
      if !act.isOpening {
        counts.recordAct()
      } else if isGone {
        counts.recordRefused(act.room)
      }
      feed.ended(act, isGone: isGone)
      feedDaemon()
    }
    if let outcome, act.act.answer.hasPrefix("_INBOX.") {
      requests.publish(act.act.answer, outcome.serialized())
    }
  }

  // MARK: Takeovers

  /// Starts loading the waiting partitions, for which it reads the daemon's positions and the
  /// snapshots in the store.
  func load() {
    guard daemon.isConnected, requests.isConnected else { return }
    let partitions = takeovers.beginLoading {
      copies.isClosing($0) ? nil : keeper.epoch(of: $0)
    }
    guard !partitions.isEmpty else { return }
    let (rooms, transfer, node, run) = (rooms, transfer, handle, daemon.run)
    let positions = Task { try await rooms.positions() }
    for (partition, epoch) in partitions {
      let log = logs[partition.stream] ?? ""
      Task {
        var result: Result<SnapshotTransfer.LoadedPartition, any Error>
        do {
          let held = try await positions.value.filter { Partition(of: $0.key) == partition }
          result = .success(
            try await transfer.load(partition, log: log, held: held, epoch: epoch))
        } catch {
          // The pause limits the rate of attempts that fail immediately.
          try? await Task.sleep(for: .milliseconds(500))
          result = .failure(error)
        }
        node.perform { [result] in $0.loaded(partition, result, epoch: epoch, run: run) }
      }
    }
  }

  private func loaded(
    _ partition: Partition, _ result: Result<SnapshotTransfer.LoadedPartition, any Error>,
    epoch: UInt64,
    run: Int
  ) {
    guard takeovers.endLoading(partition), daemon.isConnected, daemon.run == run,
      keeper.epoch(of: partition) == epoch
    else { return }
    let loaded: SnapshotTransfer.LoadedPartition
    switch result {
    case .success(let value): loaded = value
    case .failure(let error): return takeovers.fail(partition, SnapshotTransfer.reason(error))
    }
    let now = SourceDelivery.now
    takeovers.beginReading(partition)
    stored.begin(partition, loaded.stored)
    counts.recordLoaded(loaded.count, unusable: loaded.problems, at: now)
    for problem in loaded.problems { report("problem: \(problem)") }
    feed.begin(partition, loaded.rooms)
    readers.begin(partition, after: loaded.through, at: now)
    advance(.log(partition), now)
  }

  /// Announces in the leases of caught-up partitions that the daemon has their rooms, including
  /// everything that was in the log when reading began.
  func reportLoaded() {
    for partition in takeovers.catchUp({ readers.isCurrent($0) && feed.hasCaughtUp($0) }) {
      keeper.mark(partition, isLoading: false)
    }
  }

  func endReading(_ partition: Partition) {
    readers.end(partition)
    stored.end(partition)
    feed.end(partition)
  }

  /// Makes another attempt to load the rooms that the daemon refused. The daemon may meanwhile have
  /// opened such a room without its earlier events. Therefore the daemon's copies of these rooms
  /// are closed, and their partitions are loaded again.
  func restartRefused(_ now: Instant) {
    guard daemon.isConnected else { return }
    let interval = min(settings.snapshotInterval, .seconds(30))
    for (partition, names) in Dictionary(grouping: feed.refused, by: { Partition(of: $0) }) {
      guard !names.contains(where: { feed.hasInFlight($0) }),
        let epoch = keeper.epoch(of: partition),
        takeovers.restart(partition, at: now, every: interval)
      else { continue }
      endReading(partition)
      let (rooms, node) = (rooms, handle)
      Task {
        while await !rooms.closeCopies(of: names) {
          try? await Task.sleep(for: .milliseconds(500))
          // After a reconnection, every partition is loaded again anyway, so the copies need not be
          // closed.
          guard (try? await node.get { $0.daemon.isConnected }) ?? false else { break }
        }
        node.perform {
          $0.takeovers.endRestart(partition, isHeld: $0.keeper.epoch(of: partition) == epoch)
          $0.load()
        }
      }
    }
  }

  // MARK: Release

  /// Periodically closes the copies of rooms that other nodes lead.
  func closeCopies(_ now: Instant) {
    copies.update(at: now) {
      keeper.owner(of: $0)?.node != settings.node && keeper.isLeased($0, at: now)
        && !keeper.isLoading($0, at: now)
    }
    guard daemon.isConnected, !copies.begin(at: now).isEmpty else { return }
    let (rooms, node) = (rooms, handle)
    Task {
      try? await rooms.closeCopies { room in
        try await node.get { $0.mayClose(Partition(of: room)) }
      }
      node.perform {
        $0.copies.end()
        $0.load()
      }
    }
  }

  private func mayClose(_ partition: Partition) -> Bool {
    if copies.mayClose(partition) { return true }
    load()
    return false
  }

  // MARK: Snapshots

  private static let snapshotPause = Interval.seconds(5)

  /// Stores the snapshot that is due, unless another snapshot is already being stored.
  func storeNext(_ now: Instant) {
    guard !stored.isStoring, requests.isConnected, !keeper.isDraining,
      let (partition, room) = feed.nextSnapshot(
        every: settings.snapshotInterval, or: settings.snapshotBytes, at: now),
      let epoch = keeper.epoch(of: partition), let log = logs[partition.stream]
    else { return }
    stored.beginStoring()
    let closedAt = feed.beginSnapshot(of: room, partition)
    let identifier = SnapshotHeader.identifier(
      epoch: epoch, nanoseconds: Int(WallClock.nanoseconds()))
    let upload = SnapshotUpload(
      node: handle, transfer: transfer, partition: partition, room: room, log: log,
      closedAt: closedAt,
      epoch: epoch, identifier: identifier)
    Task {
      var failure: (any Error)?
      do { try await upload.run() } catch { failure = error }
      upload.node.perform { [failure] in $0.endStoring(room, partition, failure) }
    }
  }

  /// Returns the header of a snapshot and the sequence of the header that it replaces; `nil` if the
  /// node has since lost the partition or started loading it again.
  func header(
    for upload: SnapshotUpload, _ saved: SnapshotTransfer.StoredParts
  ) -> (header: SnapshotHeader, expected: UInt64)? {
    let (room, partition) = (upload.room, upload.partition)
    // If this process was suspended meanwhile, `tick` notices by the local clock that leases have
    // expired.
    perform(keeper.tick(at: SourceDelivery.now))
    guard keeper.epoch(of: partition) == upload.epoch, let code = saved.positions[upload.log],
      let basis = feed.snapshotStart(of: room, partition, at: code)
    else { return nil }
    let header = SnapshotHeader(
      identifier: upload.identifier, room: room.description, log: upload.log, code: code,
      start: basis.start, through: feed.savedUpTo(partition, without: room, from: basis.start),
      parts: saved.parts, bytes: saved.bytes, checksum: saved.checksum, node: settings.node,
      epoch: upload.epoch, senders: basis.senders)
    return (header, stored.sequence(of: room))
  }

  /// Records that the store has a header that this node did not know. The next header that this
  /// node writes replaces it.
  func snapshotFound(
    _ found: (header: SnapshotHeader?, sequence: UInt64), of room: RoomName, _ partition: Partition
  ) {
    let header = found.header.flatMap { $0.log == logs[partition.stream] ? $0 : nil }
    stored.find(header, sequence: found.sequence, of: room)
  }

  /// Records that a snapshot is stored. Returns the room's previous entry in the store; `nil` if it
  /// is not known.
  func snapshotStored(
    _ header: SnapshotHeader, _ sequence: UInt64, of room: RoomName, _ partition: Partition
  ) -> SnapshotTransfer.NewestSnapshot? {
    counts.recordStored(room)
    guard let before = stored.replace(with: header, sequence: sequence, of: room) else {
      return nil
    }
    feed.endSnapshot(of: room, partition, from: header.start, at: SourceDelivery.now)
    return before
  }

  private func endStoring(_ room: RoomName, _ partition: Partition, _ failure: (any Error)?) {
    stored.endStoring()
    let now = SourceDelivery.now
    guard let failure else { return storeNext(now) }
    // A failure loses no data, because the log keeps all messages that no snapshot contains.
    let isRefused = SnapshotTransfer.isMissing(failure) && feed.refuse(room, partition)
    feed.failSnapshot(of: room, partition, until: now + Self.snapshotPause)
    guard keeper.epoch(of: partition) != nil else { return }
    if isRefused { return counts.recordRefused(room) }
    counts.recordFailed(room, SnapshotTransfer.reason(failure))
  }
}
