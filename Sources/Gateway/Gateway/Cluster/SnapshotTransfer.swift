import ControlInterface
import Foundation
import JSON
import LiveEvents
import RateLimiting
import SystemSupport
import Varlink

/// Moves snapshots of rooms between the local daemon and the store on NATS.
///
/// A takeover loads the newest snapshot of each room, or the previous snapshot if the newest cannot
/// be read. Only the log after the snapshot must then be read. A room without a readable snapshot
/// is restored from the log alone.
struct SnapshotTransfer: Sendable {
  /// The newest known snapshot of a room in the store.
  struct NewestSnapshot: Sendable {
    /// The header of the snapshot; `nil` if this node does not know a readable header.
    var newest: SnapshotHeader?
    /// The sequence of the newest header, which the next one replaces.
    var sequence: UInt64
  }

  /// The result of storing the parts of a snapshot, before its header is written.
  struct StoredParts: Sendable {
    var positions: [String: Int] = [:]
    var parts = 0
    var bytes = 0
    var checksum: UInt32 = 0
  }

  /// The snapshots of a partition in the store, and the rooms loaded from them.
  struct LoadedPartition: Sendable {
    var stored: [RoomName: NewestSnapshot] = [:]
    var rooms: [RoomName: LogFeed.StartingPoint] = [:]
    /// The last message of the log that the loaded rooms contain.
    var through: UInt64 = 0
    var count = 0
    /// A description of each snapshot that could not be used.
    var problems: [String] = []
  }

  enum Failure: Error, Equatable {
    /// No answer arrived, or the daemon cannot carry out the call at the moment; another attempt
    /// may succeed.
    case unavailable
    /// The daemon refuses the snapshot with this error.
    case refused(String)
    /// The snapshot is damaged, or a part of it is missing.
    case unusable(String)
    /// It is unknown whether the header was stored.
    case unknown
    /// Another node has stored a header, or leads the partition.
    case replaced, moved
  }

  let calls: NatsCalls
  let control: String
  let uploads: Slots

  static let interface = "io.livehost.Replication"

  /// Returns whether an error means that the daemon does not have the room.
  static func isMissing(_ error: any Error) -> Bool {
    guard case VarlinkClientError.remote(let reply) = error,
      case .noSuchRoom? = ControlError(reply)
    else { return false }
    return true
  }

  /// Describes why a snapshot could not be stored or loaded.
  static func reason(_ error: any Error) -> String {
    switch error {
    case is NatsCalls.NoAnswer: "the NATS servers do not answer"
    case Failure.unavailable: "livehostd or the NATS servers do not answer"
    case Failure.unknown: "the NATS servers do not confirm that the snapshot is stored"
    case Failure.replaced: "another node has stored a snapshot"
    case Failure.moved: "another node leads the partition"
    case Failure.unusable(let reason): reason
    case Failure.refused(let name): "livehostd answers \(name)"
    case VarlinkClientError.remote(let reply): "livehostd answers \(reply.name)"
    default: "livehostd does not answer (\(error))"
    }
  }

  // MARK: Loading

  /// Loads a partition's rooms into the daemon, except rooms whose state in the store is not newer
  /// than the daemon's. `held` are the positions in the log that the daemon has. Then removes from
  /// the store the leftovers of crashes and of earlier owners, whose epochs precede `epoch`.
  func load(
    _ partition: Partition, log: String, held: [RoomName: Int], epoch: UInt64
  ) async throws -> LoadedPartition {
    var loaded = LoadedPartition()
    for (room, code) in held {
      loaded.rooms[room] = LogFeed.StartingPoint(held: code, daemonHasRoom: true)
    }
    // The list of subjects is read before the headers, so that the header of every complete
    // snapshot in the list is known.
    let subjects = try await subjects(SnapshotHeader.all(of: partition))
    var named: [String] = []
    // Whether every header can be read. An unreadable header may come from a newer gateway.
    var isReadable = true
    var through: UInt64 = 0
    // Limits the value of `through`: an older snapshot that is used because the newest is unusable
    // may not contain everything up to that message.
    var limit = UInt64.max
    for subject in subjects where subject.hasSuffix(".h") {
      guard let newest = try await header(["last_by_subj": .string(subject)]) else { continue }
      var older: SnapshotHeader?
      if let header = newest.header, header.isClosed {
        let age = Int(WallClock.nanoseconds()) - (header.begun ?? 0)
        if age > SnapshotHeader.memory {
          await purge(SnapshotHeader.stream, subject)
          continue
        }
      } else if let first = try await header(["seq": 1, "next_by_subj": .string(subject)]),
        first.sequence < newest.sequence
      {
        older = first.header
        isReadable = isReadable && older != nil
      }
      isReadable = isReadable && newest.header != nil
      named += [newest.header, older].compactMap { $0?.identifier }
      let headers = [newest.header, older].compactMap(\.self).filter { header in
        header.log == log && RoomName(header.room).map { Partition(of: $0) } == partition
      }
      guard let best = headers.first, let room = RoomName(best.room) else {
        limit = 0
        loaded.problems.append("the snapshots at \(subject) do not belong to this log")
        continue
      }
      if newest.header != best { limit = min(limit, best.start - min(1, best.start)) }
      loaded.stored[room] = NewestSnapshot(newest: best, sequence: newest.sequence)
      through = max(through, best.through)
      let code = held[room] ?? 0
      let daemonHasRoom = held[room] != nil
      loaded.rooms[room] = LogFeed.StartingPoint(
        held: code, after: best, daemonHasRoom: daemonHasRoom)
      if best.code <= code { continue }
      var used: SnapshotHeader?
      for snapshot in headers where used == nil && snapshot.code > code {
        do throws(Failure) {
          if !snapshot.isClosed {
            try await load(snapshot, into: room)
          } else if held[room] != nil {
            try await close(room)
          }
          used = snapshot
        } catch {
          guard case .unusable(let reason) = error else { throw error }
          loaded.problems.append("a snapshot of room \(room) cannot be used: \(reason)")
        }
      }
      if let used {
        if !used.isClosed { loaded.count += 1 }
        loaded.rooms[room] = LogFeed.StartingPoint(
          held: used.code, after: used, daemonHasRoom: !used.isClosed)
        if used != best { limit = min(limit, used.start - min(1, used.start)) }
      } else {
        limit = 0
        loaded.rooms[room] = LogFeed.StartingPoint(held: code, daemonHasRoom: daemonHasRoom)
        loaded.problems.append(
          "room \(room) has no usable snapshot and is restored from the log alone")
      }
    }
    loaded.through = min(through, limit)
    if isReadable { await removeLeftovers(among: subjects, keeping: named, before: epoch) }
    return loaded
  }

  private func subjects(_ filter: String) async throws -> [String] {
    let information = try await answered(
      "$JS.API.STREAM.INFO.\(SnapshotHeader.stream)", ["subjects_filter": .string(filter)])
    let subjects = information["state"]?["subjects"]?.objectValue ?? [:]
    return subjects.keys.map(\.description).sorted()
  }

  /// Returns the newest header of a room in the store, and its sequence.
  func stored(_ room: RoomName) async throws -> (header: SnapshotHeader?, sequence: UInt64)? {
    try await header(["last_by_subj": .string(SnapshotHeader.subject(of: room))])
  }

  private func answered(_ subject: String, _ body: JSONValue) async throws -> JSONValue {
    guard let reply = try await calls.ask(subject, body), reply["error"] == nil else {
      throw Failure.unavailable
    }
    return reply
  }

  /// Returns the header in a message; the header is `nil` if it cannot be read, and the result is
  /// `nil` if there is no such message.
  private func header(
    _ which: JSONValue
  ) async throws -> (header: SnapshotHeader?, sequence: UInt64)? {
    // This kind of request is answered by the stream's leader. A follower may not have the newest
    // message.
    let reply = try await calls.ask("$JS.API.STREAM.MSG.GET.\(SnapshotHeader.stream)", which)
    guard let reply else { throw Failure.unavailable }
    if let error = reply["error"] {
      guard error["err_code"]?.integerValue == 10037 else { throw Failure.unavailable }
      return nil
    }
    guard let sequence = reply["message"]?["seq"]?.integerValue else { throw Failure.unavailable }
    let data = (reply["message"]?["data"]?.stringValue).flatMap { Data(base64Encoded: $0) }
    let json = data.flatMap { try? JSONValue(parsing: Array($0)) }
    return (json.flatMap { SnapshotHeader($0) }, UInt64(sequence))
  }

  private func load(_ snapshot: SnapshotHeader, into room: RoomName) async throws(Failure) {
    // The slot is acquired before the parts are read, so that only a few snapshots are in memory at
    // a time.
    let outcome = await uploads.use { () -> Result<Void, Failure> in
      do throws(Failure) {
        return .success(try await pass(snapshot, room))
      } catch { return .failure(error) }
    }
    try outcome.get()
  }

  private func pass(_ snapshot: SnapshotHeader, _ room: RoomName) async throws(Failure) {
    var parts: [[UInt8]] = []
    var checksum: UInt32 = 0
    for index in 0..<snapshot.parts {
      let part = try await part(index, of: snapshot, room)
      checksum = SnapshotHeader.extend(checksum, part)
      parts.append(part)
    }
    guard checksum == snapshot.checksum else { throw .unusable("its checksum is wrong") }
    do {
      let client = try await VarlinkClient.connect(path: control)
      for (index, part) in parts.enumerated() {
        _ = try await client.callRaw(
          "\(Self.interface).LoadRoom",
          [
            "room": .string(snapshot.room), "index": .integer(Int64(index)),
            "part": .string(String(decoding: part, as: UTF8.self)),
            "isLast": .bool(index == parts.count - 1),
          ])
      }
      await client.close()
    } catch VarlinkClientError.remote(let error)
      where ServiceError(error) == .invalidParameter("part")
    {
      throw .unusable("livehostd cannot read it")
    } catch VarlinkClientError.remote(let error) {
      throw .refused(error.name)
    } catch {
      throw .unavailable
    }
  }

  /// Closes the daemon's copy of a room that another node has closed.
  private func close(_ room: RoomName) async throws(Failure) {
    do {
      let client = try await ControlClient.connect(path: control)
      try await client.closeRoom(room.description)
      await client.client.close()
    } catch VarlinkClientError.remote {
      // The room was already closed, or was closed although its recording could not be finished.
    } catch {
      throw .unavailable
    }
  }

  private func part(
    _ index: Int, of snapshot: SnapshotHeader, _ room: RoomName
  ) async throws(Failure) -> [UInt8] {
    let subject = "\(SnapshotHeader.parts(of: room, snapshot.identifier)).\(index)"
    // Any server may answer this request, and some servers may not have received the part yet.
    for attempt in 0..<8 {
      let message: NatsMessage?
      do {
        if attempt > 0 { try await Task.sleep(for: .milliseconds(250)) }
        message = try await calls.message(
          "$JS.API.DIRECT.GET.\(SnapshotHeader.stream).\(subject)")
      } catch { throw .unavailable }
      guard let message else { throw .unavailable }
      if message.status == nil { return message.bytes }
    }
    throw .unusable("part \(index) is missing")
  }

  // MARK: Saving

  /// Stores the parts of a room's snapshot as the daemon sends them, without a header. Returns the
  /// newest positions that the snapshot contains.
  func store(_ room: RoomName, as identifier: String) async throws -> StoredParts {
    let client = try await VarlinkClient.connect(path: control)
    var saved = StoredParts()
    for try await reply in try client.callMore(
      "\(Self.interface).SaveRoom", ["room": room.description], returning: JSONValue.self)
    {
      if let part = reply["part"]?.stringValue {
        let part = Array(part.utf8)
        guard saved.parts < SnapshotHeader.maximumParts,
          try await calls.store(
            "\(SnapshotHeader.parts(of: room, identifier)).\(saved.parts)", part) != nil
        else { throw Failure.unavailable }
        saved.parts += 1
        saved.bytes += part.count
        saved.checksum = SnapshotHeader.extend(saved.checksum, part)
      }
      for (source, number) in reply["positions"]?.objectValue ?? [:] {
        saved.positions[source.description] = number.integerValue.map { Int($0) }
      }
    }
    guard saved.parts > 0 else { throw Failure.unavailable }
    return saved
  }

  /// Removes stored parts that no header refers to.
  /// - Parameter filter: the subjects of a room or partition.
  func removeLeftovers(of filter: String, keeping kept: [String], before epoch: UInt64) async {
    guard let subjects = try? await subjects(filter) else { return }
    await removeLeftovers(among: subjects, keeping: kept, before: epoch)
  }

  private func removeLeftovers(
    among subjects: [String], keeping kept: [String], before epoch: UInt64
  ) async {
    for filter in SnapshotHeader.leftovers(among: subjects, keeping: kept, before: epoch) {
      await purge(SnapshotHeader.stream, filter)
    }
  }

  func purge(_ stream: String, _ filter: String, before sequence: UInt64? = nil) async {
    var body: [JSONName: JSONValue] = ["filter": .string(filter)]
    if let sequence { body["seq"] = .integer(Int64(clamping: sequence)) }
    _ = try? await calls.ask("$JS.API.STREAM.PURGE.\(stream)", .object(body))
  }
}
