import ControlInterface
import Foundation
import Ingest
import JSON
import LiveEvents
import Locking
package import Rooms
import SystemSupport
package import UnixSockets
package import Varlink
import WireFormats

/// The Varlink interface through which the gateway of a cluster saves and loads whole rooms, and
/// performs acts that are applied only once even if they are repeated.
package final class RoomReplication: Sendable {
  package static let name = "io.livehost.Replication"

  private static let definition = """
    # For the gateway of a cluster: rooms as a whole, and acts under positions.
    interface io.livehost.Replication

    # The state of a room in parts, which LoadRoom of another daemon takes. The last reply has no part.
    # [Supports 'more' flag]
    # A user may read sixteen states at a time.
    # [Requires privileges]
    method SaveRoom(room: string) -> (
      # The next part of the state, as text.
      part: ?string,
      # In the last reply: the number of the newest batch in the state, by source.
      positions: ?[string]int
    )

    # Opens a room with the state that SaveRoom gave, in place of one that has its name. One call for each part.
    # A state must be sent again from its first part if the next part does not come within half a minute, or if it
    # had to make way for others.
    # [Requires privileges]
    method LoadRoom(
      room: string,
      # How many parts were sent before.
      index: int,
      part: string,
      # Whether the state is complete; then the reply comes once the room is on disk.
      isLast: bool
    ) -> ()

    # Opens a room as batch 'sequence' of 'source'. If the room that is open has that batch, it was opened by it.
    # [Requires privileges]
    method OpenRoom(room: string, source: string, sequence: int) -> ()

    # Carries out an act of the host as batch 'sequence' of 'source', unless the room has that batch.
    # [Supports 'more' flag]
    # [Requires privileges]
    method PerformAct(
      room: string,
      source: string,
      sequence: int,
      # The act, as a line of a recording.
      event: string
    ) -> (
      # In the first of two replies, if more than one is wanted: the room has the act.
      taken: ?bool,
      # What the method of io.livehost.Control replies.
      reply: ?object
    )

    # A message that the room's chat keeps, by its number.
    # [Requires privileges]
    method FindMessage(room: string, number: int)
      -> (message: string, author: string, platform: ?string)

    """

  /// The number of bytes of a state in one reply. As Base64 in a JSON text, the reply fits into a
  /// message of NATS.
  private static let partBytes = 384 << 10
  /// The maximum number of JSON values in a state. The decoder allocates some 32 bytes for each
  /// value before it examines any, far more than the text of values such as `[],[],`. The states of
  /// real rooms have at least eleven bytes of text per value.
  package static let maximumValues = RoomUploads.maximumBytes / 8
  /// How long an upload may wait for its next part. The upload is dropped after at most twice this
  /// time.
  private static let patience = Duration.seconds(30)
  /// The size of a state, in bytes, above which free memory is returned to the system immediately
  /// after decoding.
  private static let largeBytes = 1 << 20

  private let directory: RoomDirectory
  private let service: LivehostControl
  private let sleep: @Sendable (Duration) async throws -> Void
  private let uploads = Guarded(RoomUploads())
  /// The number of states that each user is reading, all of which are in memory.
  private let readers = Guarded<[UInt32?: Int]>([:])
  private static let maximumReaders = 16
  /// Limits decoding to one state at a time, because decoding takes several times the memory of the
  /// text.
  package let decoding = WorkSlots(count: 1)

  /// - Parameter sleep: waits between searches for abandoned uploads.
  package init(
    directory: RoomDirectory, service: LivehostControl,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    self.directory = directory
    self.service = service
    self.sleep = sleep
  }

  package func makeInterface(mayChange: @escaping @Sendable (Peer) -> Bool) throws -> Interface {
    var interface = try Interface(parsing: Self.definition)
    interface.authorization = { call in
      guard let peer = call.peer, mayChange(peer) else { throw ServiceError.permissionDenied }
    }
    try interface.handleStream("SaveRoom", requiresMore: true) {
      (call, parameters: RoomParameters, replies) in
      try await self.reading(by: call.peer?.userID) {
        try await self.save(parameters.room) { try await replies.send(SaveReply(part: $0)) }
      }
    }
    try interface.handle("LoadRoom") { (_, parameters: LoadParameters) in
      try await self.load(parameters)
      return NoParameters()
    }
    try interface.handle("OpenRoom") { (_, parameters: OpenParameters) in
      let position = try Self.position(parameters.source, parameters.sequence)
      try await self.service.openRoom(parameters.room, at: position)
      return NoParameters()
    }
    try interface.handleStream("PerformAct") { (call, parameters: ActParameters, replies) in
      let (taken, take) = AsyncStream.makeStream(of: Void.self)
      async let reply = {
        defer { take.finish() }
        return try await self.perform(parameters) { take.yield() }
      }()
      // The stream ends without an element if the room is not open or the call is invalid.
      for await _ in taken {
        if call.wantsMore { try await replies.send(ActReply(taken: true)) }
      }
      return ActReply(reply: try await reply)
    }
    try interface.handle("FindMessage") { (_, parameters: MessageParameters) in
      let found = try await self.service.message(numbered: parameters.number, in: parameters.room)
      return MessageReply(
        message: String(found.identifier), author: String(found.author.id),
        platform: found.platform.map { String($0) })
    }
    // The task ends when the interface is released.
    Task { [weak self, sleep] in
      while (try? await sleep(Self.patience)) != nil, let self { self.dropStillUploads() }
    }
    return interface
  }

  /// Calls `body`, in which a user reads a state, unless the user is reading too many states
  /// already.
  private func reading(
    by user: UInt32?, _ body: () async throws -> SaveReply
  ) async throws -> SaveReply {
    let isTaken = readers.withLock { readers in
      let count = readers[user, default: 0]
      if count < Self.maximumReaders { readers[user] = count + 1 }
      return count < Self.maximumReaders
    }
    guard isTaken else { throw ControlError.limitReached("states") }
    defer {
      readers.withLock { readers in
        let count = readers[user, default: 1] - 1
        readers[user] = count > 0 ? count : nil
      }
    }
    return try await body()
  }

  private func save(
    _ room: String, part: (String) async throws -> Void
  ) async throws -> SaveReply {
    let name = try Self.name(room)
    guard let lane = directory.lane(of: name) else { throw ControlError.noSuchRoom(room) }
    let found = await lane.visit(name) { room in room.map { $0.copy() } }
    guard let found else { throw ControlError.noSuchRoom(room) }
    guard let snapshot = found else { throw ControlError.busy }
    // Encoding a long chat takes tens of milliseconds, so it does not run on the threads that serve
    // calls.
    let data = try await Task.detached { try JSONWriter.text(of: snapshot) }.value
    // A state that a receiver would refuse is not sent, so that it does not replace an earlier
    // usable copy.
    guard Self.isTakable(data), (try? snapshot.checkBounds()) != nil else {
      throw ControlError.limitReached("roomBytes")
    }
    for start in stride(from: 0, to: data.count, by: Self.partBytes) {
      let end = min(start + Self.partBytes, data.count)
      try await part(Data(data[start..<end]).base64EncodedString())
    }
    return SaveReply(positions: snapshot.known?.positions ?? [:])
  }

  private func load(_ parameters: LoadParameters) async throws {
    let name = try Self.name(parameters.room)
    guard let part = Data(base64Encoded: parameters.part) else {
      throw ServiceError.invalidParameter("part")
    }
    let state = try uploads.withLock {
      try $0.add([UInt8](part), at: parameters.index, of: name, isLast: parameters.isLast)
    }
    guard let state else { return }
    let (lane, snapshot) = try await open(name, with: state)
    await lane.visit(name) { $0?.continueCopy(snapshot) }
    try await lane.save(name)
  }

  /// Opens a room with a complete state. A room of the same name is closed first.
  private func open(
    _ name: RoomName, with state: [UInt8]
  ) async throws -> (HostLane, RoomSnapshot) {
    let size = state.count
    defer { uploads.withLock { $0.end(size) } }
    let snapshot: RoomSnapshot
    do {
      // The call may always wait for its turn: at most one state waits per connection, and the
      // bytes of all waiting states are limited.
      snapshot = try await decoding.run(isNew: false) {
        // Decoding does not run on the threads that serve calls.
        try await Task.detached { try Self.decode(state) }.value
      }
    } catch let error as CancellationError {
      throw error
    } catch { throw ServiceError.invalidParameter("part") }
    guard snapshot.room == name.description, snapshot.sequence == nil, snapshot.recording == nil
    else {
      throw ServiceError.invalidParameter("room")
    }
    _ = await directory.close(name)
    do throws(RoomDirectory.Refusal) {
      return (try directory.open(name, restoring: snapshot), snapshot)
    } catch { throw ControlError.busy }
  }

  private static func decode(_ state: [UInt8]) throws -> RoomSnapshot {
    guard valueCount(in: state) <= maximumValues else {
      throw ServiceError.invalidParameter("part")
    }
    defer { if state.count > largeBytes { FreeMemory.returnToSystem() } }
    return try RoomSnapshot(decoding: state)
  }

  /// Whether a daemon that receives a state accepts it.
  private static func isTakable(_ state: [UInt8]) -> Bool {
    state.count <= RoomUploads.maximumBytes && valueCount(in: state) <= maximumValues
  }

  /// Estimates the number of values in a JSON text, in O(*n*), by counting the bytes outside of
  /// strings that precede values.
  package static func valueCount(in text: [UInt8]) -> Int {
    var (count, isString, isEscaped) = (0, false, false)
    for byte in text {
      switch byte {
      case _ where isEscaped: isEscaped = false
      case UInt8(ascii: "\\"): isEscaped = isString
      case UInt8(ascii: "\""): isString.toggle()
      case UInt8(ascii: ","), UInt8(ascii: "["), UInt8(ascii: "{"): count += isString ? 0 : 1
      default: break
      }
    }
    return count
  }

  private func dropStillUploads() { uploads.withLock { $0.dropStill() } }

  private func perform(
    _ parameters: ActParameters, taken: @escaping @Sendable () -> Void
  ) async throws -> HostReply {
    let name = try Self.name(parameters.room)
    let position = try Self.position(parameters.source, parameters.sequence)
    guard let act = Self.act(parameters.event) else {
      throw ServiceError.invalidParameter("event")
    }
    guard let lane = directory.lane(of: name) else {
      throw ControlError.noSuchRoom(parameters.room)
    }
    return try await lane.act(act, in: name, at: position, taken: taken).get()
  }

  private static func act(_ line: String) -> LiveEvent.Payload? {
    let bytes = Array(line.utf8)
    var decoder = LineDecoder(ofOwnLinesUpTo: LineDecoder.maximumLineLength)
    let slice = ByteSlab.Slice(offset: 0, count: bytes.count)
    guard case .event(let event, _) = decoder.decode(ByteSlab(bytes), line: slice, arrival: 0)
    else { return nil }
    return event.payload
  }

  private static func name(_ room: String) throws(ServiceError) -> RoomName {
    guard let name = RoomName(room) else { throw .invalidParameter("room") }
    return name
  }

  private static func position(
    _ source: String, _ sequence: Int
  ) throws(ServiceError) -> BatchPosition {
    guard EventLimits.nameLength >= source.utf8.count, sequence >= 0 else {
      throw .invalidParameter("source")
    }
    return BatchPosition(source: Text(source), sequence: sequence)
  }

  private struct RoomParameters: Codable { let room: String }

  private struct SaveReply: Codable {
    var part: String?
    var positions: [String: Int]?
  }

  private struct LoadParameters: Codable {
    let room: String
    let index: Int
    let part: String
    let isLast: Bool
  }

  private struct OpenParameters: Codable {
    let room: String
    let source: String
    let sequence: Int
  }

  private struct ActParameters: Codable, Sendable {
    let room: String
    let source: String
    let sequence: Int
    let event: String
  }

  private struct ActReply: Codable {
    var taken: Bool?
    var reply: HostReply?
  }

  private struct MessageParameters: Codable {
    let room: String
    let number: Int
  }

  private struct MessageReply: Codable {
    let message: String
    let author: String
    let platform: String?
  }
}
