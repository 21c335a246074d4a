import JSON
import LiveEvents

/// Stores one snapshot of a room, and then removes the data that it replaces.
struct SnapshotUpload {
  let node: NodeHandle
  let transfer: SnapshotTransfer
  let partition: Partition
  let room: RoomName
  let log: String
  /// The position in the log at which the room was closed; `nil` if the daemon has the room.
  let closedAt: Int?
  let epoch: UInt64
  let identifier: String

  func run() async throws {
    do { try await store() } catch {
      // The parts are kept if it is unknown whether their header was stored.
      if error as? SnapshotTransfer.Failure != .unknown {
        await transfer.purge(
          SnapshotHeader.stream, SnapshotHeader.parts(of: room, identifier) + ".*")
      }
      throw error
    }
  }

  private func store() async throws {
    var saved = SnapshotTransfer.StoredParts()
    if let closedAt {
      saved.positions = [log: closedAt]
    } else {
      saved = try await transfer.store(room, as: identifier)
    }
    var written = try await writeHeader(saved)
    if written == nil { written = try await writeHeader(saved) }
    guard let (header, sequence) = written else { throw SnapshotTransfer.Failure.replaced }
    let before = try await node.get { $0.snapshotStored(header, sequence, of: room, partition) }
    // If `before` is `nil`, the partition has begun again since, and nothing may be removed.
    guard let before else { return }
    // The log is needed only after the older of the two kept snapshots; of a closed room, it is not
    // needed at all up to the closing.
    let older = header.isClosed ? header : before.newest
    if let older {
      await transfer.purge(partition.stream, partition.logSubject(of: room), before: older.start)
    }
    await transfer.removeLeftovers(
      of: SnapshotHeader.all(of: room),
      keeping: [header.identifier, older?.identifier].compactMap(\.self), before: epoch + 1)
  }

  /// Writes the header. Returns `nil` if the store has a header that this node did not know but may
  /// replace; another attempt can then succeed.
  private func writeHeader(
    _ saved: SnapshotTransfer.StoredParts
  ) async throws -> (header: SnapshotHeader, sequence: UInt64)? {
    let header = try await node.get { $0.header(for: self, saved) }
    guard let (header, expected) = header else { throw SnapshotTransfer.Failure.moved }
    var isAnswered = false
    do {
      let sequence = try await transfer.calls.store(
        SnapshotHeader.subject(of: room), header.json.serialized(), expecting: expected)
      if let sequence { return (header, sequence) }
      isAnswered = true
    } catch {}
    // Either the answer was lost after the header was stored, or the store has another header.
    guard let found = try? await transfer.stored(room) else {
      throw SnapshotTransfer.Failure.unknown
    }
    if found.header?.identifier == identifier { return (header, found.sequence) }
    let isOlder = found.header?.epoch ?? 0 <= epoch
    if isOlder { try await node.get { $0.snapshotFound(found, of: room, partition) } }
    guard isAnswered else { throw SnapshotTransfer.Failure.unknown }
    guard isOlder else { throw SnapshotTransfer.Failure.replaced }
    return nil
  }
}
