import ControlInterface
import Foundation
import Ingest
import JSON
import LiveEvents
import LivehostDaemon
import NIOPosix
import Testing
import UnixSockets
import Varlink
import WireFormats

/// Rooms that go from one daemon to another, and acts that are carried out once.
@Suite(.timeLimit(.minutes(1))) struct ReplicationTests {
  /// The rooms of a studio with `io.livehost.Replication`.
  private struct Daemon {
    let studio: Studio
    let server: VarlinkServer
    let client: VarlinkClient

    init() async throws {
      studio = try Studio()
      let replication = RoomReplication(directory: studio.directory, service: studio.control)
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
        _ = try await call(
          "LoadRoom",
          [
            "room": "main", "index": .integer(Int64(index)), "part": .string(part),
            "isLast": .bool(index == parts.count - 1),
          ])
      }
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

  private func people(_ numbers: Range<Int>) -> [LiveEvent] {
    numbers.map {
      LiveEvent(
        timestamp: 1_700_000_000_000,
        payload: .waitingRoom(.join(Person(id: Text("p\($0)"), name: "Ann"))))
    }
  }

  /// What the gateway notes of the room would be wrong: that it is there.
  @Test func `an act is not said to be taken where there is no such room`() async throws {
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

  @Test func `a room goes to another daemon with its state and its positions`() async throws {
    let (first, second) = (try await Daemon(), try await Daemon())
    _ = try first.studio.directory.open(.main)
    _ = await first.send(traffic(2_000), at: 7)
    let (parts, positions) = try await first.save()
    #expect(positions == ["log": 7])
    // In place of the one that is there.
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
    // It goes on where the first one was.
    #expect(await second.send(people(0..<3), at: 7) == 3)
    #expect(await second.send(people(0..<3), at: 8) == 0)
    try await first.end()
    try await second.end()
  }

  @Test
  func `a state that is spoiled, incomplete or of another room is refused, and changes nothing`()
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

  @Test func `an act is carried out once, in its turn among the batches`() async throws {
    let daemon = try await Daemon()
    _ = try daemon.studio.directory.open(.main)
    _ = await daemon.send(people(0..<5), at: 1)
    let admit = #"{"type":"host.admit"}"#
    let first = try await daemon.act(admit, at: 2)
    #expect(first?["people"]?.arrayValue?.first?["id"] == "p0")
    // The gateway was not sure.
    let again = try await daemon.act(admit, at: 2)
    #expect(again?["people"] == nil)
    #expect(try await daemon.act(admit, at: 3)?["people"]?.arrayValue?.first?["id"] == "p1")
    #expect(await daemon.studio.lane.report(.main)?.features.waitingRoom?.admitted == 2)
    // A batch in front of it would be a repeat.
    #expect(await daemon.send(people(5..<6), at: 3) == 1)
    #expect(try await daemon.studio.control.getPositions("main") == ["log": 3])
    try await daemon.end()
  }

  @Test func `a room is opened once under a position, and not over one that was opened otherwise`()
    async throws
  {
    let daemon = try await Daemon()
    func open(_ room: String, at sequence: Int) async throws {
      _ = try await daemon.call(
        "OpenRoom", ["room": .string(room), "source": "log", "sequence": .integer(Int64(sequence))])
    }
    try await open("main", at: 5)
    #expect(try await daemon.studio.control.getPositions("main") == ["log": 5])
    // The gateway was not sure.
    try await open("main", at: 5)
    await #expect(throws: VarlinkClientError.remote(ControlError.roomExists("main").varlinkError)) {
      try await open("main", at: 6)
    }
    // What was refused is no batch of the room.
    #expect(try await daemon.studio.control.getPositions("main") == ["log": 5])
    #expect(await daemon.send(people(0..<1), at: 6) == 0)
    _ = try daemon.studio.directory.open(RoomName("side")!)
    await #expect(throws: VarlinkClientError.remote(ControlError.roomExists("side").varlinkError)) {
      try await open("side", at: 1)
    }
    try await daemon.end()
  }
}
