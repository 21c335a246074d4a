import Ingest
import LiveEvents
import NIOCore
import NIOEmbedded
import Synchronization
import Testing
import WireFormats

private let clear = #"{"type":"chat.clear"}"#
private func viewers(_ count: Int, room: String = "main") -> String {
  #"{"type":"viewers","count":\#(count),"room":"\#(room)"}"# + "\n"
}
private func sync(_ token: String) -> String { #"{"type":"sync","token":"\#(token)"}"# + "\n" }
private func synced(_ token: String, _ received: Int, _ rejected: Int) -> String {
  #"{"type":"synced","token":"\#(token)","received":\#(received),"rejected":\#(rejected)}"# + "\n"
}

/// A durability that saves everything until it fails.
private final class Disk: Durability {
  private let reason = Mutex<String?>(nil)
  var failureReason: String? { reason.withLock { $0 } }
  func fail(_ text: String) { reason.withLock { $0 = text } }
}

@Suite struct ConnectionTests {
  @Test(arguments: [1, 2, 7, 64, 10_000])
  func `a connection reads the same lines, however their bytes are split`(piece: Int) throws {
    let sink = RecordingSink()
    let connection = try EmbeddedConnection(sink)
    let lines =
      viewers(1) + "\r\n" + clear + "\r\n" + viewers(2, room: "b") + "nonsense\n"
      + viewers(3) + "@target-user-id=4 :t CLEARCHAT #B :bob\n{\n"
    let bytes = Array(lines.utf8)
    for start in stride(from: 0, to: bytes.count, by: piece) {
      try connection.send(bytes[start..<min(start + piece, bytes.count)])
    }
    #expect(
      sink.payloads("main") == [
        .header(.viewers(count: 1)), .chat(.clear), .header(.viewers(count: 3)),
      ])
    #expect(
      sink.payloads("b") == [
        .header(.viewers(count: 2)),
        .chat(.timeout(ChatTimeout(user: Person(id: "4", name: "bob"), seconds: nil))),
      ])
    #expect(sink.unroutable == [.unknownFormat: 1, .malformedJSON: 1])
    #expect(sink.notes.allSatisfy { $0.events.allSatisfy { $0.timestamp == 1000 } })
  }

  @Test func `a sync is never answered if lines before it were lost instead of saved`() throws {
    let sink = RecordingSink(holding: true)
    let connection = try EmbeddedConnection(sink)
    let disk = Disk()
    try connection.send(viewers(1))
    let kept = try #require(sink.takeHeld().first)
    kept.addDurability(disk)
    kept.markConsumed()
    try connection.send(sync("a") + viewers(2))
    for receipt in sink.takeHeld() {
      receipt.addDurability(disk)
      receipt.markApplied()
    }
    #expect(try connection.answers() == synced("a", 1, 0), "nothing is lost yet")
    // The line before sync b is now lost. The delivery of sync b does not need to be saved.
    disk.fail("the disk \"a\" is full")
    try connection.send(sync("b"))
    for receipt in sink.takeHeld() { receipt.markApplied() }
    #expect(
      try connection.answers()
        == #"{"type":"applied","token":"b","received":2,"rejected":0,"#
        + #""reason":"the disk \"a\" is full"}"# + "\n")
    // The later lines do not have to be saved.
    try connection.send(viewers(3) + sync("c"))
    for receipt in sink.takeHeld() { receipt.markApplied() }
    #expect(try connection.answers() == synced("c", 3, 0))
  }

  @Test func `the error of a rejected line names its unknown type, in both formats`() throws {
    for line in [
      #"{"type":"ritual","room":"r"}"#, "@msg-id=ritual;user-id=1;login=a :t USERNOTICE #r",
    ] {
      let sink = RecordingSink()
      let connection = try EmbeddedConnection(sink)
      try connection.send(line + "\n")
      let counts = try #require(sink.rejections.first)
      #expect(counts.firstFault(.unknownType) == "'ritual'")
      #expect(counts.remarks == [.kind("ritual"): 1])
    }
  }

  @Test func `a connection counts invalid input by reason and stays open`() throws {
    let sink = RecordingSink()
    let connection = try EmbeddedConnection(sink)
    try connection.send(#"{"type":"viewers","# + "\n" + #"{"type":"nonsense","room":"r"}"# + "\n")
    try connection.send(Array(#"{"type":"title","title":""#.utf8) + [0xFF, 0x22, 0x7D, 0x0A])
    try connection.send([UInt8](repeating: 0, count: 500) + [0x0A])
    try connection.send("@badges=;id=1;user-i\n" + #"{"type":"viewers","room":"r"}"# + "\n")
    try connection.send(#"{"type":"viewers","count":-1,"room":"r"}"# + "\nPING :x\n")
    try connection.send(#"{"type":"viewers","count":1,"room":"R"}"# + "\n")
    // The line has 10 MiB and arrives in reads of 64 KiB.
    let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 64 * 1024)
    for _ in 0..<160 { try connection.send(piece) }
    try connection.send("\n" + viewers(5) + sync("end"))
    #expect(
      sink.unroutable == [
        .malformedJSON: 1, .invalidUTF8: 1, .unknownFormat: 1, .malformedIRC: 1, .protocolLine: 1,
        .invalidRoom: 1, .lineTooLong: 1,
      ])
    #expect(sink.rejections("r") == [.unknownType: 1, .missingMember: 1, .invalidValue: 1])
    #expect(sink.payloads("main") == [.header(.viewers(count: 5))])
    #expect(try connection.answers() == synced("end", 11, 10))
  }

  @Test(arguments: [65_536, 65_537, 65_538, 65_539])
  func `a line of exactly the maximum length is accepted, whether it ends with LF or CR LF`(
    length: Int
  ) throws {
    for end in ["\n", "\r\n"] {
      for piece in [1000, 1 << 20] {
        let sink = RecordingSink()
        let connection = try EmbeddedConnection(sink)
        let start = #"{"type":"title","title":""#
        let line =
          start + String(repeating: "x", count: length - start.utf8.count - 2) + "\"}" + end
        let bytes = Array(line.utf8)
        for place in stride(from: 0, to: bytes.count, by: piece) {
          try connection.send(bytes[place..<min(place + piece, bytes.count)])
        }
        try connection.send(clear + "\n")
        let isTaken = length == 65_536
        #expect(sink.payloads("main").count == (isTaken ? 2 : 1))
        #expect(sink.unroutable == (isTaken ? [:] : [.lineTooLong: 1]))
      }
    }
  }

  @Test func `an incomplete line of a disconnected sender is rejected and counted`() throws {
    for (rest, reason) in [
      ("{\"type\":", RejectionReason.malformedJSON), ("@id=1", .malformedIRC),
      ("PRIVMSG #c :hel", .malformedIRC), ("hel", .unknownFormat),
    ] {
      let sink = RecordingSink()
      let connection = try EmbeddedConnection(sink)
      try connection.send(viewers(1) + rest)
      connection.channel.pipeline.fireChannelInactive()
      #expect(sink.payloads("main") == [.header(.viewers(count: 1))])
      #expect(sink.unroutable == [reason: 1])
    }
  }

  @Test func `a last line without a line ending is processed, as an event or as a sync`()
    throws
  {
    let sink = RecordingSink(holding: true)
    let connection = try EmbeddedConnection(sink)
    try connection.send(viewers(1) + clear + "\n" + String(sync("last").dropLast()))
    #expect(try connection.answers() == "")
    connection.fire(ChannelEvent.inputClosed)
    #expect(!connection.isClosed)
    for receipt in sink.takeHeld() { receipt.markApplied() }
    #expect(try connection.answers() == synced("last", 2, 0))
    #expect(connection.isClosed)

    let other = try EmbeddedConnection(sink)
    try other.send(sync("first") + clear)
    other.fire(ChannelEvent.inputClosed)
    for receipt in sink.takeHeld() { receipt.markApplied() }
    #expect(try other.answers() == synced("first", 0, 0))
    #expect(sink.payloads("main").last == .chat(.clear))
  }

  @Test func `an options line sets the room and the clock of the following lines`() throws {
    let sink = RecordingSink()
    let connection = try EmbeddedConnection(sink)
    try connection.send(
      viewers(1) + #"{"type":"options","clock":"event"}"# + "\n" + viewers(2)
        + #"{"type":"options","room":"mine"}"# + "\n" + viewers(3, room: "other") + "{\n"
        + #"{"type":"options","clock":"sun"}"# + "\n" + sync("x"))
    #expect(sink.payloads("main") == [.header(.viewers(count: 1)), .header(.viewers(count: 2))])
    #expect(sink.payloads("mine") == [.header(.viewers(count: 3))])
    #expect(sink.rejections("mine") == [.malformedJSON: 1, .invalidValue: 1])
    #expect(sink.notes.prefix(3).map(\.clock) == ["arrival", "event", "event"])
    #expect(try connection.answers() == synced("x", 5, 2))
  }

  @Test func `an options line sets the default origin of the following events`() throws {
    let sink = RecordingSink()
    let connection = try EmbeddedConnection(sink)
    try connection.send(
      viewers(1) + #"{"type":"options","platform":"twitch"}"# + "\n" + viewers(2)
        + #"{"type":"options","source":"main"}"# + "\n" + viewers(3)
        + "@target-user-id=4 :t CLEARCHAT #main :bob\n"
        + #"{"type":"viewers","count":4,"platform":"kick"}"# + "\n" + sync("x"))
    let twitch = Origin(platform: "twitch", source: "main")
    #expect(
      sink.notes.flatMap { $0.events.map(\.origin) } == [
        .none, Origin(platform: "twitch"), twitch, twitch,
        Origin(platform: "kick", source: "main"),
      ])
  }

  @Test
  func `an options line sets the format of the following events, but not of control lines`()
    throws
  {
    let sink = RecordingSink()
    let connection = try EmbeddedConnection(sink)
    let clear = ":tmi.twitch.tv CLEARCHAT #main\n"
    try connection.send(
      viewers(1) + #"{"type":"options","format":"twitch-irc"}"# + "\n" + clear + viewers(2)
        + #"{"type":"options","format":"native"}"# + "\n" + clear + viewers(3) + "\n" + sync("x"))
    #expect(
      sink.payloads("main") == [
        .header(.viewers(count: 1)), .chat(.clear), .header(.viewers(count: 3)),
      ])
    #expect(sink.unroutable == [.unknownFormat: 2])
    #expect(try connection.answers() == synced("x", 5, 2))
  }
}

@Suite struct SyncTests {
  @Test func `a sync with no events before it is answered immediately, with its token unchanged`()
    throws
  {
    let connection = try EmbeddedConnection(RecordingSink(holding: true))
    try connection.send(sync(#"a\"\u00e9 é"#) + sync(""))
    #expect(try connection.answers() == synced(#"a\"\u00e9 é"#, 0, 0) + synced("", 0, 0))
  }

  @Test
  func `a sync requests one acknowledgement from each room that got events since the last sync`()
    throws
  {
    let sink = RecordingSink()
    let connection = try EmbeddedConnection(sink)
    try connection.send(viewers(1, room: "a") + viewers(1, room: "b"))
    try connection.send(viewers(2, room: "b") + sync("1") + viewers(3, room: "c") + sync("2"))
    let asked = sink.notes.filter(\.wantsAcknowledgement)
    #expect(asked.map(\.room) == ["b", "a", "c"])
    #expect(asked.map(\.events.count) == [1, 0, 1])
    #expect(sink.notes.count == 5)
    #expect(try connection.answers() == synced("1", 3, 0) + synced("2", 4, 0))
  }

  @Test func `syncs are answered in order, once all rooms have acknowledged`() throws {
    let sink = RecordingSink(holding: true)
    let connection = try EmbeddedConnection(sink)
    try connection.send(viewers(1, room: "a") + viewers(1, room: "b") + sync("1"))
    let first = sink.takeHeld()
    try connection.send(viewers(1, room: "a") + "{\n" + sync("2") + sync("3"))
    let second = sink.takeHeld()
    #expect(first.count == 2 && second.count == 1)
    second[0].markApplied()
    first[0].markConsumed()
    first[0].markApplied()
    first[0].markApplied()
    #expect(try connection.answers() == "")
    first[1].markApplied()
    #expect(try connection.answers() == synced("1", 2, 0) + synced("2", 4, 1) + synced("3", 4, 1))
  }

  @Test func `the answer to a sync includes the events before it that the sink rejected`() throws {
    let sink = RecordingSink(holding: true)
    let connection = try EmbeddedConnection(sink)
    try connection.send(viewers(1) + viewers(2) + sync("1") + viewers(3) + sync("2"))
    let held = sink.takeHeld()
    held[1].markRejected(1)
    held[1].markApplied()
    held[0].markRejected(2)
    held[0].markApplied()
    #expect(try connection.answers() == synced("1", 2, 2) + synced("2", 3, 3))
  }

  @Test func `a sync that is never acknowledged is not answered and closes the connection`() throws
  {
    let sink = RecordingSink(holding: true)
    let connection = try EmbeddedConnection(sink)
    try connection.send(viewers(1) + sync("1"))
    #expect(!connection.isClosed)
    _ = sink.takeHeld()
    #expect(connection.isClosed)
    #expect(try connection.answers() == "")
  }

  @Test func `a sender that has closed its side gets its answer before the connection closes`()
    throws
  {
    let sink = RecordingSink(holding: true)
    let connection = try EmbeddedConnection(sink)
    try connection.send(viewers(1) + sync("1") + "{\"type\"")
    connection.fire(ChannelEvent.inputClosed)
    #expect(!connection.isClosed)
    #expect(sink.unroutable == [.malformedJSON: 1])
    for receipt in sink.takeHeld() { receipt.markApplied() }
    #expect(try connection.answers() == synced("1", 1, 0))
    #expect(connection.isClosed)
  }

  @Test func `a sync covers rooms that the connection has already forgotten`() throws {
    let sink = RecordingSink(holding: true)
    let connection = try EmbeddedConnection(sink) {
      $0.maximumRoomsRemembered = 10
      $0.maximumOutstandingDeliveries = 1_000
    }
    for number in 0..<100 { try connection.send(viewers(number, room: "r\(number)")) }
    try connection.send(sync("all"))
    let held = sink.takeHeld()
    let rooms = sink.notes.filter(\.wantsAcknowledgement).map(\.room)
    #expect(Set(rooms).count == 100)
    for receipt in held.dropLast() { receipt.markApplied() }
    #expect(try connection.answers() == "")
    held.last?.markApplied()
    #expect(try connection.answers() == synced("all", 100, 0))
  }
}

@Suite struct SlowSinkTests {
  @Test func `a connection stops reading when the sink is slow, and reads again at half the limit`()
    throws
  {
    let sink = RecordingSink(holding: true)
    let connection = try EmbeddedConnection(sink) { $0.maximumOutstandingDeliveries = 4 }
    #expect(connection.reads == 1)
    for count in 1...3 {
      try connection.send(viewers(count))
      #expect(connection.reads == 1 + count)
    }
    try connection.send(viewers(4))
    #expect(connection.reads == 4)
    let held = sink.takeHeld()
    held[0].markConsumed()
    held[0].markConsumed()
    #expect(connection.reads == 4)
    held[1].markConsumed()
    #expect(connection.reads == 5)
    try connection.send(viewers(5))
    #expect(connection.reads == 6)
  }

  @Test
  func
    `unconsumed bytes stop the connection from reading, and a released receipt counts as consumed`()
    throws
  {
    let sink = RecordingSink(holding: true)
    let connection = try EmbeddedConnection(sink) { $0.maximumOutstandingBytes = 100 }
    try connection.send(viewers(1) + viewers(2) + viewers(3))
    #expect(connection.reads == 1)
    _ = sink.takeHeld()
    #expect(connection.reads == 2)
  }

  @Test func `lines after the maximum number of unanswered syncs wait undecoded`()
    throws
  {
    let sink = RecordingSink(holding: true)
    let connection = try EmbeddedConnection(sink) { $0.maximumOutstandingSyncs = 4 }
    // The first sync waits for the sink, so the later ones wait too.
    let tokens = (0..<100).map { "\($0)" }
    try connection.send(viewers(1) + tokens.map(sync).joined() + viewers(2) + sync("end"))
    #expect(try connection.answers() == "")
    #expect(sink.payloads("main") == [.header(.viewers(count: 1))])
    let reads = connection.reads
    for receipt in sink.takeHeld() { receipt.markApplied() }
    #expect(sink.payloads("main") == [.header(.viewers(count: 1)), .header(.viewers(count: 2))])
    for receipt in sink.takeHeld() { receipt.markApplied() }
    #expect(
      try connection.answers()
        == tokens.map { synced($0, 1, 0) }.joined() + synced("end", 2, 0))
    #expect(connection.reads > reads)
  }

  @Test(.timeLimit(.minutes(1)))
  func `many syncs without events are all answered`() throws {
    let connection = try EmbeddedConnection(RecordingSink())
    let lines = [UInt8](
      String(repeating: #"{"type":"sync","token":""}"# + "\n", count: 10_000).utf8)
    var answers = 0
    for _ in 0..<10 {
      try connection.send(lines)
      answers += try connection.answers().utf8.count { $0 == 0x0A }
    }
    #expect(answers == 100_000)
  }

  @Test func `long tokens of unanswered syncs stop the processing of lines`() throws {
    let sink = RecordingSink(holding: true)
    let connection = try EmbeddedConnection(sink) { $0.maximumOutstandingBytes = 10_000 }
    let token = String(repeating: "x", count: 4_000)
    try connection.send(viewers(1) + sync(token) + sync(token) + sync(token) + viewers(2))
    #expect(sink.payloads("main").count == 1)
    for receipt in sink.takeHeld() { receipt.markApplied() }
    #expect(sink.payloads("main").count == 2)
    #expect(try connection.answers() == String(repeating: synced(token, 1, 0), count: 3))
  }

  @Test
  func `lines held back by the limit of syncs are processed after the sender closed its side`()
    throws
  {
    let sink = RecordingSink(holding: true)
    let connection = try EmbeddedConnection(sink) { $0.maximumOutstandingSyncs = 1 }
    try connection.send(viewers(1) + sync("1") + sync("2") + viewers(2))
    #expect(sink.payloads("main").count == 1)
    connection.fire(ChannelEvent.inputClosed)
    #expect(sink.payloads("main").count == 1)
    for receipt in sink.takeHeld() { receipt.markApplied() }
    #expect(sink.payloads("main").count == 2)
    _ = sink.takeHeld()
    #expect(try connection.answers() == synced("1", 1, 0) + synced("2", 1, 0))
    #expect(connection.isClosed)
  }

  @Test func `unanswered syncs stop the connection from reading`() throws {
    let sink = RecordingSink(holding: true)
    let connection = try EmbeddedConnection(sink) { $0.maximumOutstandingSyncs = 2 }
    try connection.send(viewers(1) + sync("1"))
    #expect(connection.reads == 2)
    try connection.send(sync("2"))
    #expect(connection.reads == 2)
    for receipt in sink.takeHeld() { receipt.markApplied() }
    #expect(try connection.answers() == synced("1", 1, 0) + synced("2", 1, 0))
    #expect(connection.reads == 3)
  }

  @Test func `a stopping server waits until a slow sink has consumed the received lines`() throws {
    let sink = RecordingSink(holding: true)
    let connection = try EmbeddedConnection(sink)
    try connection.send(viewers(1) + sync("1") + "{\"ty")
    connection.fire(IngestConnection.Drain())
    try connection.send("pe\":\"viewers\"}\n")
    #expect(!connection.isClosed)
    #expect(sink.unroutable == [.malformedJSON: 1])
    for receipt in sink.takeHeld() { receipt.markApplied() }
    #expect(try connection.answers() == synced("1", 1, 0))
    #expect(connection.isClosed)
    #expect(sink.payloads("main") == [.header(.viewers(count: 1))])
  }
}

/// The events in these tests need several times as much memory as their lines, which are short.
@Suite(.timeLimit(.minutes(1))) struct MemoryLimitTests {
  private static let lines = String(repeating: "CLEARCHAT #c\n", count: 5_000)
  private static let eventBytes = MemoryLayout<LiveEvent>.stride

  /// Consumes deliveries until no more arrive.
  private func consume(_ sink: RecordingSink) {
    while true {
      let held = sink.takeHeld()
      if held.isEmpty { return }
      for receipt in held { receipt.markApplied() }
    }
  }

  @Test func `the memory limit of a connection includes the events decoded from its lines`() throws
  {
    let sink = RecordingSink(holding: true)
    let connection = try EmbeddedConnection(sink) { $0.maximumOutstandingBytes = 200_000 }
    try connection.send(Self.lines)
    let reads = connection.reads
    let taken = sink.payloads("c").count
    #expect(taken > 0 && taken * Self.eventBytes < 300_000, "\(taken) events")
    consume(sink)
    #expect(sink.payloads("c").count == 5_000)
    #expect(connection.reads > reads)
  }

  @Test func `when the shared memory is full, each connection is limited to its own share`() throws
  {
    let memory = IngestMemory(limit: 200_000)
    let (greedy, modest) = (RecordingSink(holding: true), RecordingSink(holding: true))
    let first = try EmbeddedConnection(greedy, memory: memory)
    let second = try EmbeddedConnection(modest, memory: memory)
    try first.send(Self.lines)
    #expect(memory.bytes >= 200_000 && memory.bytes < 400_000, "\(memory.bytes)")
    try second.send(viewers(1) + sync("1"))
    #expect(modest.payloads("main").count == 1, "the memory of other connections does not stop it")
    consume(modest)
    #expect(try second.answers() == synced("1", 1, 0))
    try second.send(Self.lines)
    let taken = modest.payloads("c").count
    #expect(taken > 0 && taken * Self.eventBytes < 200_000, "\(taken) events")
    consume(greedy)
    consume(modest)
    #expect(greedy.payloads("c").count == 5_000)
    #expect(modest.payloads("c").count == 5_000)
    #expect(memory.bytes == 0)
  }

  @Test
  func
    `input of a disconnected sender is processed as the sink consumes it, and occupies its slot`()
    throws
  {
    let sink = RecordingSink(holding: true)
    let isFree = Mutex(false)
    let memory = IngestMemory(limit: 1 << 20)
    do {
      let connection = try EmbeddedConnection(
        sink, memory: memory, slot: ConnectionSlot(free: { isFree.withLock { $0 = true } })
      ) { $0.maximumOutstandingBytes = 100_000 }
      try connection.send(Self.lines + sync("1") + viewers(3))
      connection.channel.pipeline.fireChannelInactive()
      #expect(sink.payloads("c").count < 5_000)
      while sink.payloads("main").isEmpty {
        #expect(isFree.withLock { !$0 })
        let held = sink.takeHeld()
        try #require(!held.isEmpty)
        for receipt in held { receipt.markApplied() }
        connection.channel.embeddedEventLoop.run()
      }
    }
    #expect(sink.payloads("c").count == 5_000)
    #expect(isFree.withLock { !$0 }, "the last delivery is not consumed yet")
    consume(sink)
    #expect(isFree.withLock { $0 })
    #expect(memory.bytes == 0)
  }

  @Test
  func `tokens of unanswered syncs count as memory and are released when the connection ends`()
    throws
  {
    let sink = RecordingSink(holding: true)
    let memory = IngestMemory(limit: 1 << 20)
    let connection = try EmbeddedConnection(sink, memory: memory)
    try connection.send(viewers(1) + sync(String(repeating: "t", count: 5_000)))
    #expect(memory.bytes > 5_000)
    connection.channel.pipeline.fireChannelInactive()
    _ = sink.takeHeld()
    #expect(memory.bytes == 0)
  }
}

@Suite struct UnreadAnswersTests {
  private func connect(_ sink: RecordingSink) throws -> EmbeddedConnection {
    try EmbeddedConnection(sink, isRead: false) { $0.drainTimeout = .seconds(2) }
  }

  private func expectTwoSeconds(_ connection: EmbeddedConnection) {
    connection.pass(.seconds(2) - .nanoseconds(1))
    #expect(!connection.isClosed)
    connection.pass(.nanoseconds(1))
    #expect(connection.isClosed)
  }

  @Test func `a stopping server waits a limited time for a sender to read its answers`() throws {
    let connection = try connect(RecordingSink())
    try connection.send(viewers(1) + sync("1"))
    connection.pass(.hours(1))
    connection.fire(IngestConnection.Drain())
    expectTwoSeconds(connection)
  }

  @Test func `the time limit for reading answers starts when the sink has consumed everything`()
    throws
  {
    let sink = RecordingSink(holding: true)
    let connection = try connect(sink)
    try connection.send(viewers(1) + sync("1"))
    connection.fire(IngestConnection.Drain())
    connection.pass(.hours(1))
    #expect(!connection.isClosed)
    for receipt in sink.takeHeld() { receipt.markApplied() }
    expectTwoSeconds(connection)
  }

  @Test
  func `a sender that has closed its side may read answers without limit until the server stops`()
    throws
  {
    let connection = try connect(RecordingSink())
    try connection.send(viewers(1) + sync("1"))
    connection.fire(ChannelEvent.inputClosed)
    connection.pass(.hours(1))
    #expect(!connection.isClosed)
    connection.fire(IngestConnection.Drain())
    expectTwoSeconds(connection)
  }
}
