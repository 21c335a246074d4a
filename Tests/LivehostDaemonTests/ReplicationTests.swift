import ControlInterface
import Foundation
import Ingest
import JSON
import LiveEvents
import LivehostDaemon
import NIOCore
import NIOPosix
import Rooms
import TestSupport
import Testing
import UnixSockets
import Varlink
import WireFormats

/// Rooms that are copied to another daemon, and host actions that are performed exactly once.
@Suite(.timeLimit(.minutes(1))) struct ReplicationTests {
  /// The rooms of a studio, served through `io.livehost.Replication`.
  private struct Daemon {
    let studio: Studio
    let replication: RoomReplication
    let server: VarlinkServer
    let client: VarlinkClient

    init(
      sleep: @escaping @Sendable (Duration) async throws -> Void = { _ in try await untilCancelled()
      }
    ) async throws {
      studio = try Studio()
      replication = RoomReplication(
        directory: studio.directory, service: studio.control, sleep: sleep)
      server = try await VarlinkServer.start(
        on: .bind(path: studio.controlSocket),
        information: ServiceInformation(vendor: "", product: "", version: "", url: ""),
        interfaces: [try replication.makeInterface(mayChange: { _ in true })],
        group: MultiThreadedEventLoopGroup.singleton)
      client = try await VarlinkClient.connect(path: studio.controlSocket)
    }

    func end() async throws {
      await server.shutdown()
      try await studio.end()
    }

    func call(_ method: String, _ parameters: [JSONName: JSONValue]) async throws
      -> [JSONName: JSONValue]
    {
      try await client.callRaw("\(RoomReplication.name).\(method)", parameters)
    }

    func save() async throws -> (parts: [String], positions: JSONValue?) {
      let client = try await VarlinkClient.connect(path: studio.controlSocket)
      var parts: [String] = []
      var positions: JSONValue?
      for try await reply in try client.callMore(
        "\(RoomReplication.name).SaveRoom", ["room": "main"], returning: JSONValue.self)
      {
        if let part = reply["part"]?.stringValue { parts.append(part) }
        positions = positions ?? reply["positions"]
      }
      return (parts, positions)
    }

    func load(_ parts: [String]) async throws {
      for (index, part) in parts.enumerated() {
        try await load(part, at: index, isLast: index == parts.count - 1)
      }
    }

    func load(_ part: String, at index: Int, isLast: Bool = false) async throws {
      _ = try await call("LoadRoom", ReplicationTests.part(part, at: index, isLast: isLast))
    }

    func send(_ events: [LiveEvent], at sequence: Int) async -> Int {
      await withCheckedContinuation { continuation in
        studio.lane.post(
          RoomDelivery(
            room: .main, events: events,
            receipt: DeliveryReceipt { rejected, _ in continuation.resume(returning: rejected) },
            position: BatchPosition(source: "log", sequence: sequence)))
      }
    }

    func act(_ event: String, at sequence: Int) async throws -> JSONValue? {
      try await call(
        "PerformAct",
        [
          "room": "main", "source": "log", "sequence": .integer(Int64(sequence)),
          "event": .string(event),
        ])["reply"]
    }
  }

  /// Returns the parameters of `LoadRoom`.
  private static func part(
    _ part: String, at index: Int, of room: String = "main", isLast: Bool
  ) -> [JSONName: JSONValue] {
    [
      "room": .string(room), "index": .integer(Int64(index)), "part": .string(part),
      "isLast": .bool(isLast),
    ]
  }

  /// Reports when the first bytes are read, and leaves the later bytes unread.
  private final class FirstRead: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let promise: EventLoopPromise<Void>

    init(promise: EventLoopPromise<Void>) { self.promise = promise }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { promise.succeed() }
    func channelInactive(context: ChannelHandlerContext) {
      promise.fail(ChannelError.ioOnClosedChannel)
    }
  }

  /// A clock that advances only when a test advances it.
  private final class Waits: Sendable {
    private let waiting = AsyncStream.makeStream(of: Void.self)
    private let time = AsyncStream.makeStream(of: Void.self)

    /// Waits until the test advances the clock.
    func wait() async throws {
      waiting.continuation.yield()
      for await _ in time.stream { return }
      throw CancellationError()
    }

    /// Waits until another task is waiting.
    func begin() async { for await _ in waiting.stream { return } }

    /// Ends one wait and returns when the next wait has begun, so the work in between is complete.
    func pass() async {
      time.continuation.yield()
      await begin()
    }

    /// Ends all waits, now and later.
    func end() { time.continuation.finish() }
  }

  private func people(_ numbers: Range<Int>) -> [LiveEvent] {
    numbers.map {
      LiveEvent(
        timestamp: 1_700_000_000_000,
        payload: .waitingRoom(.join(Person(id: Text("p\($0)"), name: "Ann"))))
    }
  }

  /// If the daemon reported success, the gateway would record that the room exists.
  @Test func `a host action on a room that does not exist is not reported as accepted`()
    async throws
  {
    let daemon = try await Daemon()
    var replies: [JSONValue] = []
    let act: JSONValue = [
      "room": "main", "source": "log", "sequence": 1, "event": #"{"type":"host.admit","ts":1}"#,
    ]
    await #expect(throws: VarlinkClientError.self) {
      for try await reply in try daemon.client.callMore(
        "\(RoomReplication.name).PerformAct", act, returning: JSONValue.self)
      {
        replies.append(reply)
      }
    }
    #expect(replies.isEmpty)
    try await daemon.end()
  }

  @Test func `a room is copied to another daemon with its state and its positions`() async throws {
    let (first, second) = (try await Daemon(), try await Daemon())
    _ = try first.studio.directory.open(.main)
    _ = await first.send(traffic(2_000), at: 7)
    let (parts, positions) = try await first.save()
    #expect(positions == ["log": 7])
    // Replaces the room that exists there.
    _ = try second.studio.directory.open(.main)
    _ = await second.send(traffic(10, seed: 2), at: 1)
    try await second.load(parts)
    let report = try #require(await first.studio.lane.report(.main))
    let copy = try #require(await second.studio.lane.report(.main))
    #expect(copy.features.chat?.total == report.features.chat?.total)
    #expect(copy.features.chat?.messages == report.features.chat?.messages)
    #expect(copy.features.control == report.features.control)
    #expect(copy.features.waitingRoom == report.features.waitingRoom)
    #expect(copy.counters == report.counters)
    // The copy continues at the position of the original.
    #expect(await second.send(people(0..<3), at: 7) == 3)
    #expect(await second.send(people(0..<3), at: 8) == 0)
    try await first.end()
    try await second.end()
  }

  @Test
  func `an invalid state, or the state of another room, is rejected and changes nothing`()
    async throws
  {
    let daemon = try await Daemon()
    _ = try daemon.studio.directory.open(.main)
    _ = await daemon.send(people(0..<3), at: 1)
    let (parts, _) = try await daemon.save()
    let spoiled = try #require(Data(base64Encoded: parts[0])).dropFirst().base64EncodedString()
    for part in [spoiled, "no base64!", Data("{}".utf8).base64EncodedString()] {
      await #expect(
        throws: VarlinkClientError.remote(ServiceError.invalidParameter("part").varlinkError)
      ) {
        try await daemon.load([part])
      }
    }
    await #expect(
      throws: VarlinkClientError.remote(ServiceError.invalidParameter("index").varlinkError)
    ) {
      _ = try await daemon.call(
        "LoadRoom", ["room": "main", "index": 1, "part": .string(parts[0]), "isLast": true])
    }
    await #expect(
      throws: VarlinkClientError.remote(ServiceError.invalidParameter("room").varlinkError)
    ) {
      _ = try await daemon.call(
        "LoadRoom", ["room": "other", "index": 0, "part": .string(parts[0]), "isLast": true])
    }
    #expect(await daemon.studio.lane.report(.main)?.features.waitingRoom?.waiting == 3)
    try await daemon.end()
  }

  @Test func `the upload of a state is dropped after it has been idle for a while`()
    async throws
  {
    let waits = Waits()
    let daemon = try await Daemon(sleep: { _ in try await waits.wait() })
    await waits.begin()
    let part = Data("{}".utf8).base64EncodedString()
    try await daemon.load(part, at: 0)
    await waits.pass()
    // Within the limit.
    try await daemon.load(part, at: 1)
    await waits.pass()
    try await daemon.load(part, at: 2)
    await waits.pass()
    await waits.pass()
    await #expect(
      throws: VarlinkClientError.remote(ServiceError.invalidParameter("index").varlinkError)
    ) {
      try await daemon.load(part, at: 3)
    }
    waits.end()
    try await daemon.end()
  }

  @Test func `idle uploads of states release their memory`() throws {
    var uploads = RoomUploads()
    let (still, busy) = (RoomName("still")!, RoomName("busy")!)
    _ = try uploads.add([1, 2, 3], at: 0, of: still, isLast: false)
    _ = try uploads.add([1, 2], at: 0, of: busy, isLast: false)
    uploads.dropStill()
    #expect(uploads.heldBytes == 5)
    _ = try uploads.add([3], at: 1, of: busy, isLast: false)
    uploads.dropStill()
    #expect(uploads.heldBytes == 3)
    uploads.dropStill()
    #expect(uploads.heldBytes == 0)
  }

  @Test func `an upload beyond the memory budget evicts the upload that was idle longest`() throws {
    var uploads = RoomUploads()
    let half = [UInt8](repeating: 0, count: RoomUploads.maximumBytes / 2)
    let rooms = ["a", "b", "c", "d", "e"].map { RoomName($0)! }
    for room in rooms.prefix(4) {
      _ = try uploads.add(half, at: 0, of: room, isLast: false)
    }
    #expect(uploads.heldBytes == RoomUploads.budget)
    // The second upload has now been idle longest.
    _ = try uploads.add([], at: 1, of: rooms[0], isLast: false)
    _ = try uploads.add(half, at: 0, of: rooms[4], isLast: false)
    #expect(uploads.heldBytes == RoomUploads.budget)
    #expect(throws: ServiceError.invalidParameter("index")) {
      _ = try uploads.add([], at: 1, of: rooms[1], isLast: false)
    }
    let whole = try uploads.add(half, at: 2, of: rooms[0], isLast: true)
    #expect(whole?.count == RoomUploads.maximumBytes)
    #expect(uploads.heldBytes == RoomUploads.budget)
  }

  @Test
  func `completed uploads count towards the budget until their rooms open, and are never evicted`()
    throws
  {
    var uploads = RoomUploads()
    let most = [UInt8](repeating: 0, count: RoomUploads.maximumBytes)
    for room in ["a", "b"] {
      let whole = try uploads.add(most, at: 0, of: RoomName(room)!, isLast: true)
      #expect(whole?.count == most.count)
    }
    #expect(throws: ControlError.limitReached("roomBytes")) {
      _ = try uploads.add([0], at: 0, of: .main, isLast: false)
    }
    uploads.end(most.count)
    _ = try uploads.add([0], at: 0, of: .main, isLast: false)
    #expect(uploads.heldBytes == most.count + 1)
    // An upload beyond the limit is dropped, and no other upload is.
    _ = try uploads.add([0], at: 0, of: RoomName("c")!, isLast: false)
    #expect(throws: ControlError.limitReached("roomBytes")) {
      _ = try uploads.add(most, at: 1, of: .main, isLast: false)
    }
    #expect(uploads.heldBytes == most.count + 1)
  }

  @Test func `the number of concurrent uploads is limited even if they hold no bytes`() throws {
    var uploads = RoomUploads()
    for number in 0...RoomUploads.maximumCount {
      _ = try uploads.add([], at: 0, of: RoomName("r\(number)")!, isLast: false)
    }
    #expect(throws: ServiceError.invalidParameter("index")) {
      _ = try uploads.add([], at: 1, of: RoomName("r0")!, isLast: false)
    }
    _ = try uploads.add([], at: 1, of: RoomName("r1")!, isLast: false)
  }

  @Test func `uploaded states are decoded one at a time`() async throws {
    let daemon = try await Daemon()
    _ = try daemon.studio.directory.open(.main)
    _ = await daemon.send(people(0..<3), at: 1)
    let (parts, _) = try await daemon.save()
    let decoding = daemon.replication.decoding
    let other = await TakenSlot(of: decoding)
    let loads = [(parts[0], "main"), (Data("{}".utf8).base64EncodedString(), "side")]
    var tasks: [Task<Void, any Error>] = []
    for (part, room) in loads {
      let client = try await VarlinkClient.connect(path: daemon.studio.controlSocket)
      tasks.append(
        Task {
          _ = try await client.callRaw(
            "\(RoomReplication.name).LoadRoom", Self.part(part, at: 0, of: room, isLast: true))
        })
    }
    while decoding.waitingCount < loads.count { await Task.yield() }
    try await other.giveBack()
    try await tasks[0].value
    let refused = tasks[1]
    await #expect(
      throws: VarlinkClientError.remote(ServiceError.invalidParameter("part").varlinkError)
    ) {
      try await refused.value
    }
    #expect(await daemon.studio.lane.report(.main)?.features.waitingRoom?.waiting == 3)
    try await daemon.end()
  }

  @Test func `a user can read at most sixteen states concurrently`() async throws {
    let daemon = try await Daemon()
    _ = try daemon.studio.directory.open(.main)
    // The state is larger than the buffers of a connection.
    #expect(await daemon.send(people(0..<30_000), at: 1) == 0)
    let call =
      #"{"method":"\#(RoomReplication.name).SaveRoom","parameters":{"room":"main"},"more":true}"#
    var readers: [any Channel] = []
    for _ in 0..<16 {
      let reader = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .channelOption(.autoRead, value: false)
        .connect(unixDomainSocketPath: daemon.studio.controlSocket).get()
      let hasBegun = reader.eventLoop.makePromise(of: Void.self)
      try await reader.pipeline.addHandler(FirstRead(promise: hasBegun))
      try await reader.writeAndFlush(ByteBuffer(string: call + "\0"))
      reader.read()
      try await hasBegun.futureResult.get()
      readers.append(reader)
    }
    await #expect(
      throws: VarlinkClientError.remote(ControlError.limitReached("states").varlinkError)
    ) {
      _ = try await daemon.save()
    }
    try await readers[0].close()
    while (try? await daemon.save()) == nil { try Task.checkCancellation() }
    for reader in readers.dropFirst() { try await reader.close() }
    try await daemon.end()
  }

  @Test func `a state with more values than a room can have is rejected before it is decoded`()
    async throws
  {
    let text = #"{"a":[1,"b,[\",{",{}],"c":2}"#
    #expect(RoomReplication.valueCount(in: Array(text.utf8)) == 6)
    let daemon = try await Daemon()
    _ = try daemon.studio.directory.open(.main)
    _ = await daemon.send(people(0..<3), at: 1)
    let (parts, _) = try await daemon.save()
    let state = try #require(Data(base64Encoded: parts[0]))
    // The decoder ignores unknown members.
    func padded(_ count: Int) -> [String] {
      let values = String(repeating: "0,", count: count)
      let text: Data = Data("{\"x\":[\(values)0],".utf8) + state.dropFirst()
      return stride(from: 0, to: text.count, by: 2 << 20).map {
        text[$0..<min($0 + 2 << 20, text.count)].base64EncodedString()
      }
    }
    try await daemon.load(padded(10))
    let tooMany = padded(RoomReplication.maximumValues)
    await #expect(
      throws: VarlinkClientError.remote(ServiceError.invalidParameter("part").varlinkError)
    ) {
      try await daemon.load(tooMany)
    }
    #expect(await daemon.studio.lane.report(.main)?.features.waitingRoom?.waiting == 3)
    try await daemon.end()
  }

  @Test func `a replicated host action is performed once, in its order among the batches`()
    async throws
  {
    let daemon = try await Daemon()
    _ = try daemon.studio.directory.open(.main)
    _ = await daemon.send(people(0..<5), at: 1)
    let admit = #"{"type":"host.admit"}"#
    let first = try await daemon.act(admit, at: 2)
    #expect(first?["people"]?.arrayValue?.first?["id"] == "p0")
    // The gateway repeats the host action because it got no answer.
    let again = try await daemon.act(admit, at: 2)
    #expect(again?["people"] == nil)
    #expect(try await daemon.act(admit, at: 3)?["people"]?.arrayValue?.first?["id"] == "p1")
    #expect(await daemon.studio.lane.report(.main)?.features.waitingRoom?.admitted == 2)
    // A batch with a lower number would be a repetition.
    #expect(await daemon.send(people(5..<6), at: 3) == 1)
    #expect(try await daemon.studio.control.getPositions("main") == ["log": 3])
    try await daemon.end()
  }

  @Test func `a replicated room is opened once per position, and never replaces another open room`()
    async throws
  {
    let daemon = try await Daemon()
    func open(_ room: String, at sequence: Int) async throws {
      _ = try await daemon.call(
        "OpenRoom", ["room": .string(room), "source": "log", "sequence": .integer(Int64(sequence))])
    }
    try await open("main", at: 5)
    #expect(try await daemon.studio.control.getPositions("main") == ["log": 5])
    // The gateway repeats the call because it got no answer.
    try await open("main", at: 5)
    await #expect(throws: VarlinkClientError.remote(ControlError.roomExists("main").varlinkError)) {
      try await open("main", at: 6)
    }
    // A refused batch does not count as a batch of the room.
    #expect(try await daemon.studio.control.getPositions("main") == ["log": 5])
    #expect(await daemon.send(people(0..<1), at: 6) == 0)
    _ = try daemon.studio.directory.open(RoomName("side")!)
    await #expect(throws: VarlinkClientError.remote(ControlError.roomExists("side").varlinkError)) {
      try await open("side", at: 1)
    }
    try await daemon.end()
  }
}
