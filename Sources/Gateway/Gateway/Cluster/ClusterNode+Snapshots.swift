import JSON
import LiveEvents
import LiveSources
import NIOCore
import Platform
import RateLimiting

// Snapshots of this node's rooms, one at a time: most go to few bytes of log, and the log is what must not wait.
extension ClusterNode {
  private static let pause = Interval.seconds(5)

  var transfer: SnapshotTransfer {
    SnapshotTransfer(calls: calls, control: settings.control, uploads: uploads)
  }

  func saveNext(_ now: Instant) {
    guard !isSaving, requests.isConnected, !keeper.isDraining,
      let (partition, room) = feed.nextSnapshot(
        every: settings.snapshotInterval, or: settings.snapshotBytes, at: now),
      let epoch = keeper.epoch(of: partition), let log = logs[partition.stream]
    else { return }
    isSaving = true
    let gone = feed.beginSnapshot(of: room, partition)
    let identifier = SnapshotHeader.identifier(
      epoch: epoch, nanoseconds: Int(WallClock.nanoseconds()))
    let saving = Saving(
      node: handle, transfer: transfer, partition: partition, room: room, log: log, gone: gone,
      epoch: epoch, identifier: identifier)
    Task {
      var failure: (any Error)?
      do { try await saving.run() } catch {
        failure = error
        if error as? SnapshotTransfer.Failure != .unknown {
          await saving.removeParts(of: identifier)
        }
      }
      saving.node.perform { [failure] in $0.endSaving(of: room, partition, failure) }
    }
  }

  /// One snapshot on its way to the store.
  private struct Saving {
    let node: NodeHandle
    let transfer: SnapshotTransfer
    let partition: Partition
    let room: RoomName
    let log: String
    /// Where in the log the daemon has no such room.
    let gone: Int?
    let epoch: UInt64
    let identifier: String

    func run() async throws {
      var saved = SnapshotTransfer.Saved()
      if let gone {
        saved.positions = [log: gone]
      } else {
        saved = try await transfer.store(room, as: identifier)
      }
      var written = try await writeHeader(saved)
      if written == nil { written = try await writeHeader(saved) }
      guard let (header, sequence) = written else { throw SnapshotTransfer.Failure.replaced }
      let before = try await node.get { $0.noteStored(header, sequence, of: room, partition) }
      // The partition was begun anew; what else the store has of the room is not known now.
      guard let before else { return }
      // Behind the older of the two nothing of the log is needed, and of a closed room nothing at all.
      let older = header.isClosed ? header : before.newest
      if let older {
        await transfer.purge(partition.stream, partition.logSubject(of: room), before: older.start)
      }
      await transfer.removeLeftovers(
        of: SnapshotHeader.all(of: room),
        keeping: [header.identifier, older?.identifier].compactMap(\.self), before: epoch + 1)
    }

    /// Writes the header; `nil` if the store has one of which this node knew nothing, and which it may replace.
    private func writeHeader(
      _ saved: SnapshotTransfer.Saved
    ) async throws -> (header: SnapshotHeader, sequence: UInt64)? {
      let header = try await node.get {
        $0.header(of: room, partition, log, identifier, epoch, saved)
      }
      guard let (header, expected) = header else { throw SnapshotTransfer.Failure.moved }
      var isAnswered = false
      do {
        let sequence = try await transfer.calls.store(
          SnapshotHeader.subject(of: room), header.json.serialized(), expecting: expected)
        if let sequence { return (header, sequence) }
        isAnswered = true
      } catch {}
      // The answer may be lost, or there is another header.
      guard let found = try? await transfer.stored(room) else {
        throw SnapshotTransfer.Failure.unknown
      }
      if found.header?.identifier == identifier { return (header, found.sequence) }
      let isOlder = found.header?.epoch ?? 0 <= epoch
      if isOlder { try await node.get { $0.noteFound(found, of: room, partition) } }
      guard isAnswered else { throw SnapshotTransfer.Failure.unknown }
      guard isOlder else { throw SnapshotTransfer.Failure.replaced }
      return nil
    }

    func removeParts(of identifier: String) async {
      await transfer.purge(
        SnapshotHeader.stream, SnapshotHeader.parts(of: room, identifier) + ".*")
    }
  }

  private func header(
    of room: RoomName, _ partition: Partition, _ log: String, _ identifier: String,
    _ epoch: UInt64, _ saved: SnapshotTransfer.Saved
  ) -> (header: SnapshotHeader, expected: UInt64)? {
    // Whoever was stopped meanwhile has lost the partition, by its own clock.
    perform(keeper.tick(at: Delivery.now))
    guard keeper.epoch(of: partition) == epoch, let code = saved.positions[log],
      let basis = feed.basis(of: room, partition, at: code)
    else { return nil }
    let header = SnapshotHeader(
      identifier: identifier, room: room.description, log: log, code: code, start: basis.start,
      through: feed.covered(partition, without: room, from: basis.start), parts: saved.parts,
      bytes: saved.bytes, checksum: saved.checksum, node: settings.node, epoch: epoch,
      senders: basis.senders)
    return (header, stored[partition]?[room]?.sequence ?? 0)
  }

  /// Another header is in the store than this node knows, which the next one replaces.
  private func noteFound(
    _ found: (header: SnapshotHeader?, sequence: UInt64), of room: RoomName, _ partition: Partition
  ) {
    let header = found.header.flatMap { $0.log == logs[partition.stream] ? $0 : nil }
    // Read before the place is being changed.
    let known = stored[partition]?[room]?.newest
    stored[partition]?[room] = .init(newest: header ?? known, sequence: found.sequence)
  }

  /// Returns what the store had of the room before; `nil` if that is not known.
  private func noteStored(
    _ header: SnapshotHeader, _ sequence: UInt64, of room: RoomName, _ partition: Partition
  ) -> SnapshotTransfer.Stored? {
    snapshots.noteStored(room)
    guard stored[partition] != nil else { return nil }
    let before = stored[partition]?[room] ?? .init(newest: nil, sequence: 0)
    stored[partition]?[room] = .init(newest: header, sequence: sequence)
    feed.endSnapshot(of: room, partition, from: header.start, at: Delivery.now)
    return before
  }

  private func endSaving(of room: RoomName, _ partition: Partition, _ failure: (any Error)?) {
    isSaving = false
    let now = Delivery.now
    guard let failure else { return saveNext(now) }
    // What is in no snapshot is in the log.
    let isRefused = SnapshotTransfer.isMissing(failure) && feed.refuse(room, partition)
    feed.failSnapshot(of: room, partition, until: now + Self.pause)
    guard keeper.epoch(of: partition) != nil else { return }
    if isRefused { return snapshots.noteRefused(room) }
    snapshots.noteFailed(room, SnapshotTransfer.reason(failure))
  }
}
