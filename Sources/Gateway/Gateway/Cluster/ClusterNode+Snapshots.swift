import JSON
import LiveEvents
import LiveSources
import NIOCore
import Platform
import RateLimiting

/// What a node did with snapshots and acts, for its status.
struct SnapshotCounts: Sendable {
  var stored = 0
  var loaded = 0
  /// Attempts that failed; they are repeated.
  var failed = 0
  var unusable = 0
  var acts = 0
  /// The newest that could not be used, in words.
  var problems: [String] = []
}

// Snapshots of this node's rooms, one at a time: most go to few bytes of log, and the log is what must not wait.
extension ClusterNode {
  private static let pause = Interval.seconds(5)

  var transfer: SnapshotTransfer { SnapshotTransfer(calls: calls, control: settings.control) }

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
      let outcome = (try? await saving.run()) ?? .failed
      if outcome == .failed { await saving.removeParts(of: identifier) }
      saving.node.perform {
        $0.endSaving(of: room, partition, isStored: outcome == .stored)
      }
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

    enum Outcome {
      case stored, failed
      /// It may be stored.
      case unknown
    }

    func run() async throws -> Outcome {
      var saved = SnapshotTransfer.Saved()
      if let gone {
        saved.positions = [log: gone]
      } else {
        saved = try await transfer.store(room, as: identifier)
      }
      let header = try await node.get { [saved] in
        $0.header(of: room, partition, log, identifier, epoch, saved)
      }
      guard let (header, expected) = header else { return .failed }
      var sequence: UInt64?
      var isAnswered = false
      do {
        sequence = try await transfer.calls.store(
          SnapshotHeader.subject(of: room), header.json.serialized(), expecting: expected)
        isAnswered = true
      } catch {}
      if sequence == nil {
        // The answer may be lost, or there is one of which this node knows nothing.
        guard let found = try? await transfer.stored(room) else { return .unknown }
        if found.header?.identifier == identifier {
          sequence = found.sequence
        } else if found.header?.epoch ?? 0 <= epoch {
          try await node.get { $0.noteFound(found, of: room, partition) }
        }
      }
      guard let sequence else { return isAnswered ? .failed : .unknown }
      let before = try await node.get { $0.noteStored(header, sequence, of: room, partition) }
      // Behind the older of the two nothing of the log is needed, and of a closed room nothing at all.
      let older = header.isClosed ? header : before?.newest
      if let older {
        await transfer.purge(partition.stream, partition.logSubject(of: room), before: older.start)
      }
      await transfer.removeLeftovers(
        of: SnapshotHeader.all(of: room),
        keeping: [header.identifier, older?.identifier].compactMap(\.self), before: epoch + 1)
      return .stored
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

  /// Returns what the store had of the room before.
  private func noteStored(
    _ header: SnapshotHeader, _ sequence: UInt64, of room: RoomName, _ partition: Partition
  ) -> SnapshotTransfer.Stored? {
    let before = stored[partition]?[room]
    stored[partition]?[room] = .init(newest: header, sequence: sequence)
    feed.endSnapshot(of: room, partition, from: header.start, at: Delivery.now)
    snapshots.stored += 1
    return before
  }

  private func endSaving(of room: RoomName, _ partition: Partition, isStored: Bool) {
    isSaving = false
    let now = Delivery.now
    if isStored {
      saveNext(now)
    } else {
      snapshots.failed += 1
      feed.failSnapshot(of: room, partition, until: now + Self.pause)
    }
  }
}
