import ControlInterface
import Gateway
import JSON
import LiveEvents
import RateLimiting
import Testing
import Varlink
import WireFormats

private let main = RoomName("main")!
private let partition = Partition(of: main)
private let log = "log/LH_LOG_5/then"

private func message(_ batch: Int, of sender: String = "s", _ line: String = "x") -> [UInt8] {
  LogMessage(
    position: BatchPosition(source: Text(sender), sequence: batch), lines: Array("\(line)\n".utf8)
  ).bytes
}

/// A feed of one partition, and a daemon that accepts everything.
private struct Fed {
  var feed = LogFeed()
  var written: [String] = []

  /// - Parameter rooms: the rooms of the daemon, in addition to two rooms that have no position in
  ///   the log.
  init(_ rooms: [RoomName: LogFeed.StartingPoint] = [:]) {
    let open = LogFeed.StartingPoint(held: 0, daemonHasRoom: true)
    let all = [main: open, RoomName("side")!: open].merging(rooms) { $1 }
    feed.begin(partition, all)
  }

  mutating func read(_ sequence: UInt64, _ bytes: [UInt8], in room: RoomName = main) {
    feed.received(
      bytes, sequence: sequence, room: room, partition: partition, log: log, at: .origin)
  }

  /// Writes everything that the feed has to write. Returns the token of its `sync`.
  @discardableResult
  mutating func write() -> String? {
    guard let bytes = feed.nextWrite() else { return nil }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    written += lines.filter { !$0.hasPrefix(#"{"type":"position"#) }.dropLast()
    let sync = try? JSONValue(parsing: lines.last ?? "")
    return sync?["token"]?.stringValue
  }

  mutating func writeAndAcknowledge() {
    if let token = write() { feed.acknowledge(token) }
  }
}

private func header(
  code: Int, start: UInt64, senders: [String: SenderPositions.Position] = [:]
) -> SnapshotHeader {
  SnapshotHeader(
    identifier: "7-1", room: "main", log: log, code: code, start: start, through: start - 1,
    parts: 2, bytes: 10, checksum: 0xFFFF_FFFF, node: "a", epoch: 7, senders: senders)
}

@Suite struct SnapshotHeaderTests {
  @Test func `the header of a replicated snapshot is read back unchanged`() throws {
    let written = header(
      code: 2561, start: 10,
      senders: ["s": .init(batch: 3, message: 9), "t/1": .init(batch: 1, message: 2)])
    let read = SnapshotHeader(try JSONValue(parsing: written.json.serialized()))
    #expect(read == written)
  }

  @Test(arguments: [
    "version", "identifier", "room", "log", "code", "start", "through", "parts",
    "bytes", "checksum", "node", "epoch", "senders",
  ])
  func `a snapshot header with a missing or invalid member is rejected`(name: String) {
    guard case .object(var members) = header(code: 1, start: 1).json else { return }
    members[JSONName(name)] = .integer(-1)
    #expect(SnapshotHeader(.object(members)) == nil)
    members[JSONName(name)] = nil
    #expect(SnapshotHeader(.object(members)) == nil)
  }
}

@Suite struct LeftoverTests {
  private func parts(_ identifier: String, _ count: Int, of room: RoomName = main) -> [String] {
    (0..<count).map { "\(SnapshotHeader.parts(of: room, identifier)).\($0)" }
  }

  private let side = RoomName("side")!

  @Test
  func `parts of an interrupted upload are removed, but parts named by a header are kept`() {
    let (older, newest, cut) = ("5-10", "7-20", "7-30")
    let subjects =
      parts(older, 2) + parts(newest, 3) + parts(cut, 1) + parts("5-5", 1, of: side)
      + ["lh.snap.42.bWFpbg.h"]
    let found = SnapshotHeader.leftovers(among: subjects, keeping: [older, newest], before: 8)
    #expect(
      found == [
        "\(SnapshotHeader.parts(of: main, cut)).*", "\(SnapshotHeader.parts(of: side, "5-5")).*",
      ])
  }

  @Test
  func `parts of a snapshot that may be in transfer, or that another version named, are kept`() {
    let names = [
      SnapshotHeader.identifier(epoch: 7, nanoseconds: 1),
      SnapshotHeader.identifier(epoch: 9, nanoseconds: 1), "v2", "-1",
    ]
    let subjects = names.flatMap { parts($0, 1) }
    #expect(SnapshotHeader.leftovers(among: subjects, keeping: [], before: 7) == [])
    #expect(
      SnapshotHeader.leftovers(among: subjects, keeping: [], before: 8) == [
        "\(SnapshotHeader.parts(of: main, names[0])).*"
      ])
  }
}

@Suite struct SnapshotBasisTests {
  @Test func `a snapshot contains the batch positions that belong to its own log position`()
    throws
  {
    var fed = Fed()
    fed.read(1, message(1))
    fed.writeAndAcknowledge()
    fed.feed.beginSnapshot(of: main, partition)
    fed.read(2, message(2))
    fed.read(3, message(1, of: "t"))
    // The snapshot was made when the daemon had the second message; now it has acknowledged both.
    fed.writeAndAcknowledge()
    let basis = try #require(fed.feed.snapshotStart(of: main, partition, at: 2 * 256))
    #expect(basis.start == 3)
    #expect(basis.senders == ["s": .init(batch: 2, message: 2)])
    // A node that continues from the snapshot passes on everything after it, and nothing twice.
    let startingPoint = LogFeed.StartingPoint(
      held: 2 * 256, after: header(code: 2 * 256, start: basis.start, senders: basis.senders))
    var other = Fed([main: startingPoint])
    other.read(1, message(1, of: "s", "a"))
    other.read(2, message(2, of: "s", "b"))
    other.read(3, message(1, of: "t", "c"))
    other.read(4, message(2, of: "s", "again"))
    other.read(5, message(3, of: "s", "d"))
    other.write()
    #expect(other.written == ["c", "d"])
    #expect(other.feed.duplicates == 1)
  }

  @Test func `after a snapshot in the middle of a long message, the message is read again`() throws
  {
    let line = String(repeating: "y", count: 999)
    let long = LogMessage(
      position: BatchPosition(source: "s", sequence: 1),
      lines: Array(String(repeating: line + "\n", count: 100).utf8))
    var fed = Fed()
    fed.feed.beginSnapshot(of: main, partition)
    fed.read(5, long.bytes)
    fed.writeAndAcknowledge()
    let basis = try #require(fed.feed.snapshotStart(of: main, partition, at: 5 * 256 + 1))
    #expect(basis.start == 5)
    #expect(basis.senders.isEmpty)
    let whole = try #require(fed.feed.snapshotStart(of: main, partition, at: 5 * 256 + 3))
    #expect(whole.start == 6)
    let startingPoint = LogFeed.StartingPoint(
      held: 5 * 256 + 1, after: header(code: 5 * 256 + 1, start: 5))
    var other = Fed([main: startingPoint])
    other.read(5, long.bytes)
    other.write()
    #expect(other.written.count == long.parts[2...].joined().count / 1000)
  }

  @Test func `snapshots cover a partition up to its first message that is in no snapshot`() {
    let side = RoomName("side")!
    var fed = Fed()
    fed.read(1, message(1))
    fed.read(2, message(1), in: side)
    fed.read(3, message(2))
    fed.writeAndAcknowledge()
    // The room `side` has no snapshot yet.
    #expect(fed.feed.savedUpTo(partition, without: main, from: 4) == 1)
    fed.feed.endSnapshot(of: side, partition, from: 3, at: .origin)
    #expect(fed.feed.savedUpTo(partition, without: main, from: 4) == 3)
    #expect(fed.feed.savedUpTo(partition, without: main, from: 2) == 1)
  }

  @Test
  func `the room with the most bytes since its snapshot is saved first, once it is due`() {
    let side = RoomName("side")!
    var fed = Fed()
    fed.read(1, message(1))
    fed.read(2, message(1, of: "s", String(repeating: "z", count: 999)), in: side)
    func next(_ seconds: Int64, _ bytes: Int = 1 << 20) -> RoomName? {
      fed.feed.nextSnapshot(every: .seconds(60), or: bytes, at: .origin + .seconds(seconds))?.room
    }
    #expect(next(59) == nil)
    #expect(next(59, 500) == side)
    #expect(next(60) == side)
    fed.feed.beginSnapshot(of: side, partition)
    #expect(next(60) == main)
    fed.feed.failSnapshot(of: side, partition, until: .origin + .seconds(65))
    #expect(next(60) == main)
    #expect(next(65) == side)
    fed.feed.endSnapshot(of: side, partition, from: 3, at: .origin)
    #expect(next(600) == main)
  }
}

@Suite struct LoggedActTests {
  private func act(_ batch: Int, _ act: LoggedAct) -> [UInt8] {
    LogMessage(position: BatchPosition(source: "g", sequence: batch), lines: act.line).bytes
  }

  private let close = LoggedAct(.close, answer: "_INBOX.a.1")

  @Test(arguments: [
    LoggedAct.Kind.event(["type": "tap", "control": "mute"]), .open, .close,
  ])
  func `a host action in the replicated log is read back unchanged and not mistaken for events`(
    kind: LoggedAct.Kind
  ) {
    let act = LoggedAct(kind, answer: "_INBOX.a.1")
    #expect(LoggedAct.isAct(act.line))
    #expect(LoggedAct(act.line) == act)
    #expect(!LoggedAct.isAct(Array(#"{"type":"viewers","count":1}"#.utf8)))
  }

  @Test func `a host action waits for earlier events of its room, and later events wait for it`() {
    let side = RoomName("side")!
    var fed = Fed()
    fed.read(1, message(1, of: "s", "before"))
    fed.read(2, act(1, close))
    fed.read(3, message(2, of: "s", "behind"))
    fed.read(4, message(1, of: "s", "elsewhere"), in: side)
    let token = fed.write()
    #expect(fed.written == ["before", "elsewhere"])
    #expect(fed.feed.nextActs().isEmpty)
    fed.feed.acknowledge(token ?? "")
    let acts = fed.feed.nextActs()
    #expect(acts.map(\.code) == [512])
    #expect(fed.write() == nil)
    #expect(fed.feed.nextActs().isEmpty)
    fed.feed.ended(acts[0])
    fed.writeAndAcknowledge()
    #expect(fed.written == ["before", "elsewhere", "behind"])
    #expect(fed.feed.bytes == 0)
  }

  @Test func `a host action is performed once, even if the log contains it twice`() {
    var fed = Fed([main: LogFeed.StartingPoint(held: 512)])
    fed.read(2, act(1, close))
    fed.read(3, act(1, close))
    #expect(fed.feed.nextActs().isEmpty)
    fed.read(4, act(2, close))
    #expect(fed.feed.nextActs().count == 1)
  }

  @Test
  func `the end of a partition drops its waiting host action and the events that wait for it`() {
    var fed = Fed()
    fed.read(1, act(1, close))
    fed.read(2, message(1))
    let acts = fed.feed.nextActs()
    fed.feed.end(partition)
    #expect(!fed.feed.isActing(acts[0]))
    fed.feed.ended(acts[0])
    #expect(fed.write() == nil)
    #expect(fed.feed.bytes == 0)
  }

  @Test func `each host action is a separate message in the replicated log`() {
    var appender = LogAppender<Int>(session: "g")
    appender.append(Array("a\n".utf8), position: nil, in: main, receipt: 1)
    let first = appender.next(at: .origin)[0]
    appender.append(Array("b\n".utf8), position: nil, in: main, receipt: 2)
    appender.append(close.line, position: nil, in: main, isAlone: true, receipt: 3)
    appender.append(Array("c\n".utf8), position: nil, in: main, receipt: 4)
    #expect(appender.stored(first.request) == [1])
    var lines: [[UInt8]] = []
    while let next = appender.next(at: .origin).first {
      lines.append(LogMessage(bytes: next.body)?.lines ?? [])
      _ = appender.stored(next.request)
    }
    #expect(lines == [Array("b\n".utf8), close.line, Array("c\n".utf8)])
  }

  @Test func `closing a room is stored immediately, and its repetition does not open the room`()
    throws
  {
    let open = LoggedAct(.open, answer: "_INBOX.a.1")
    var fed = Fed()
    func due() -> RoomName? {
      fed.feed.nextSnapshot(every: .seconds(60), or: 1 << 20, at: .origin)?.room
    }
    fed.read(1, act(1, open))
    fed.feed.ended(fed.feed.nextActs()[0])
    #expect(due() == nil)
    fed.read(2, message(1, of: "s", "a"))
    fed.writeAndAcknowledge()
    fed.read(3, act(2, close))
    fed.feed.ended(fed.feed.nextActs()[0], isGone: true)
    #expect(due() == main)
    #expect(fed.feed.savedUpTo(partition, without: RoomName("side")!, from: 9) == 0)
    let gone = fed.feed.beginSnapshot(of: main, partition)
    let code = try #require(gone)
    #expect(code == 3 * 256)
    let basis = try #require(fed.feed.snapshotStart(of: main, partition, at: code))
    #expect(basis.start == 4)
    fed.feed.endSnapshot(of: main, partition, from: basis.start, at: .origin)
    #expect(due() == nil)
    // The replicated log is truncated at this position. A gateway and a sender that got no answers
    // have repeated earlier messages.
    var closed = header(code: code, start: basis.start, senders: basis.senders)
    closed.parts = 0
    let read = try #require(SnapshotHeader(try JSONValue(parsing: closed.json.serialized())))
    #expect(read.isClosed)
    var other = Fed([main: LogFeed.StartingPoint(held: read.code, after: read)])
    other.read(4, act(1, open))
    other.read(5, message(1, of: "s", "a"))
    other.read(6, act(2, close))
    #expect(other.feed.nextActs().isEmpty)
    #expect(other.write() == nil)
    #expect(other.feed.duplicates == 3)
    // A new request opens the room again.
    other.read(7, act(3, open))
    #expect(other.feed.nextActs().map(\.code) == [7 * 256])
  }

  @Test func `a room that is closed and opened again gets a snapshot with its state`() {
    var fed = Fed()
    fed.read(1, act(1, close))
    fed.feed.ended(fed.feed.nextActs()[0], isGone: true)
    fed.read(2, message(1, of: "s", "a"))
    fed.feed.ended(fed.feed.nextActs()[0])
    // Even before the first events, the snapshot is not that of a closed room.
    #expect(fed.feed.beginSnapshot(of: main, partition) == nil)
    fed.feed.failSnapshot(of: main, partition, until: .origin)
    fed.writeAndAcknowledge()
    #expect(fed.feed.beginSnapshot(of: main, partition) == nil)
    fed.feed.failSnapshot(of: main, partition, until: .origin)
    fed.read(3, act(2, close))
    fed.feed.ended(fed.feed.nextActs()[0], isGone: true)
    fed.read(4, act(3, LoggedAct(.open, answer: "")))
    fed.feed.ended(fed.feed.nextActs()[0])
    #expect(fed.feed.beginSnapshot(of: main, partition) == nil)
  }

  @Test func `the daemon decides whether the room that a host action targets exists`() {
    let event = LoggedAct(.event(["type": "host.admit"]), answer: "")
    let open = LoggedAct(.open, answer: "")
    func outcome(_ error: ControlError) -> JSONValue {
      let error = error.varlinkError
      return ["error": .string(error.name), "parameters": .object(error.parameters)]
    }
    let done: JSONValue = ["reply": [:]]
    #expect([event, open, close].map { $0.leavesNoRoom(done) } == [false, false, true])
    let absent = outcome(.noSuchRoom("main"))
    #expect([event, close].map { $0.leavesNoRoom(absent) } == [true, true])
    let spoiled = outcome(.recordingFailed(room: "main", reason: "disk"))
    #expect([open, close].map { $0.leavesNoRoom(spoiled) } == [false, true])
    #expect(!open.leavesNoRoom(outcome(.roomExists("main"))))
    #expect(open.leavesNoRoom(outcome(.limitReached("rooms"))))
    #expect(!event.leavesNoRoom(outcome(.limitReached("events"))))
    #expect(!close.leavesNoRoom(outcome(.busy)))
  }
}
