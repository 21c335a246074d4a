import ControlInterface
import Foundation
import HostScreen
import Ingest
import JSON
import LiveEvents
import LivehostDaemon
import RateLimiting
import SystemSupport
import TestSupport
import Testing
import WireFormats

/// Snapshots with values that no room can have, because another program wrote them.
@Suite(.timeLimit(.minutes(10))) struct HostileSnapshotTests {
  private let home = TemporaryDirectory()
  private var path: String { home.path + "/state" }

  private static let person = Person(id: "ann", name: "Ann")

  /// A room with an example of each value that the tests replace.
  private static func snapshot(savedAt: Int = 1, title: String = "Evening") -> RoomSnapshot {
    let screen = HostScreen.still()
    let payloads: [LiveEvent.Payload] = [
      .header(.title(Text(title))),
      .chat(.message(ChatMessage(id: "m", userID: "ann", userName: "Ann", text: "hello"))),
      .chat(.timeout(ChatTimeout(user: Person(id: "eve", name: "Eve"), seconds: 60))),
      .waitingRoom(.join(person)),
      .waitingRoom(.pace(perSecond: 0.5)),
      .activity(.goal(Goal(title: "followers", count: 1, target: 2))),
      .control(.tap(control: "mute", on: true)),
    ]
    for payload in payloads {
      screen.receive(LiveEvent(timestamp: 1_000, payload: payload), at: .origin)
    }
    screen.reject(.unknownType, 2)
    screen.drawFrame(at: .origin + .seconds(1), flush: true)
    return RoomSnapshot(
      room: "main", savedAt: savedAt, instant: .origin + .seconds(1), screen: screen.snapshot)
  }

  /// Returns the snapshot of that room with another JSON value at a path of members.
  private static func text(_ path: String, _ value: String) throws -> [UInt8] {
    func setting(_ path: ArraySlice<Substring>, in object: Any, to value: Any) -> Any {
      guard let name = path.first else { return value }
      var members = object as? [String: Any] ?? [:]
      members[String(name)] = setting(
        path.dropFirst(), in: members[String(name)] ?? [String: Any](), to: value)
      return members
    }
    let object = try JSONSerialization.jsonObject(with: Data(JSONWriter.text(of: snapshot())))
    let new = try JSONSerialization.jsonObject(
      with: Data(value.utf8), options: .fragmentsAllowed)
    let changed = setting(path.split(separator: ".")[...], in: object, to: new)
    return Array(try JSONSerialization.data(withJSONObject: changed))
  }

  private static func string(_ length: Int) -> String {
    #""\#(String(repeating: "x", count: length))""#
  }

  private static func list(_ element: String, _ count: Int) -> String {
    "[\(repeatElement(element, count: count).joined(separator: ","))]"
  }

  private static let goal = #"{"title":"t","count":1,"target":2}"#
  private static let control = #"{"name":"n","value":true}"#
  private static let chatter = #"{"userID":"u","name":"n","messages":1}"#
  private static let nested =
    String(repeating: "[", count: 99) + String(repeating: "]", count: 99)
  private static let longName = String(repeating: "x", count: 300)

  private static let possible: [(String, String)] = [
    ("screen.state.header.title", string(EventLimits.titleLength)),
    ("screen.state.activity.goals", list(goal, 4)),
    ("screen.state.control.switches.entries", list(control, 300)),
    ("screen.state.chat.topChatters", list(chatter, 5)),
    ("screen.counts.received", "9"),
    ("unknown.member", list("1", 99)),
  ]

  @Test(arguments: possible)
  func `saved values that a room can reach are accepted`(_ path: String, _ value: String) throws {
    let snapshot = try RoomSnapshot(decoding: Self.text(path, value))
    #expect(snapshot.room == "main" && snapshot.screen.counts.received == 9)
  }

  /// Impossible values, each with a part of the expected reason.
  private static let impossible: [(String, String, String)] = [
    ("screen.state.header.title", string(EventLimits.titleLength + 1), "'header.title' is larger"),
    ("screen.state.activity.goals", list(goal, 5), "'activity.goals' is larger"),
    ("screen.state.control.switches.entries", list(control, 600), "'switches.entries' is larger"),
    ("screen.state.chat.topChatters", list(chatter, 6), "'chat.topChatters' is larger"),
    ("unknown.member", list("1", 2_000), "'unknown.member' is larger"),
    ("unknown.member", string(300), "'unknown.member' is larger"),
    ("unknown.\(longName)", "1", "'unknown' is larger"),
    ("unknown", nested, "'unknown' is larger"),
    ("screen.counts.received", "10", "'counts' has an impossible value"),
    ("screen.counts.applied", "9007199254740992", "'counts' has an impossible value"),
    ("screen.counts.rejectedByReason", #"{"unknownType":3}"#, "'counts' has an impossible value"),
    ("screen.state.waitingRoom.pacing.perSecond", "-1", "the pace is out of range"),
    ("screen.state.waitingRoom.pacing.due", "-1", "the pace is out of range"),
    (
      "screen.state.chat.bookkeeping.moderation.timeouts.capacity", "1099511627776",
      "the capacity is out of range"
    ),
  ]

  @Test(arguments: impossible)
  func `saved values that no room can reach are rejected with a reason`(
    _ path: String, _ value: String, _ reason: String
  ) throws {
    let text = try Self.text(path, value)
    let error = #expect(throws: (any Error).self) { try RoomSnapshot(decoding: text) }
    #expect("\(try #require(error))".contains(reason))
  }

  @Test(arguments: [
    ("\\u0001", 1), ("\\n", 1), ("\\u00e9", 2), ("\\u2028", 3), ("\\ud83d\\ude00", 4),
  ])
  func `an escape sequence in saved text counts as the bytes that it encodes`(
    escape: String, bytes: Int
  ) throws {
    let text = String(decoding: try JSONWriter.text(of: Self.snapshot()), as: UTF8.self)
    func snapshot(_ count: Int) throws -> RoomSnapshot {
      let title = String(repeating: escape, count: count)
      return try RoomSnapshot(decoding: Array(text.replacing("Evening", with: title).utf8))
    }
    _ = try snapshot(EventLimits.titleLength / bytes)
    #expect(throws: (any Error).self) { try snapshot(EventLimits.titleLength / bytes + 1) }
  }

  /// The decoder accepts more encodings than this program writes. The checks before it must handle
  /// them all.
  @Test func `saved text not in UTF-8 is rejected, and spaces around names hide no value`()
    throws
  {
    let text = String(decoding: try JSONWriter.text(of: Self.snapshot()), as: UTF8.self)
    for encoding in [String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32] {
      let data = try #require(text.data(using: encoding))
      let error = #expect(throws: (any Error).self) { try RoomSnapshot(decoding: Array(data)) }
      #expect("\(try #require(error))".contains("UTF-8"))
    }
    let long = String(repeating: "x", count: 2_000)
    for member in ["\"title\" : ", "\n\"titl\\u0065\":", "\"text\":\"\",\"title\"\t:"] {
      let forged = text.replacing("\"title\":\"Evening\"", with: "\(member)\"\(long)\"")
      #expect(forged != text)
      #expect(throws: (any Error).self) { try RoomSnapshot(decoding: Array(forged.utf8)) }
    }
  }

  @Test func `the chat history of a restored room has the currently configured length`()
    async throws
  {
    let text = try Self.text("screen.state.chat.messages.limit", "\(1 << 40)")
    let store = try SnapshotStore(directory: path + "/rooms")
    try store.start()
    store.post(try RoomSnapshot(decoding: text), of: RoomLifetime("main"))
    await store.close()
    var settings = RoomSettings()
    (settings.chatHistory, settings.reportedMessages) = (20, 1_000)
    let run = try KeptRooms(in: path, settings: settings)
    await run.restore()
    await run.send(0..<100)
    let chat = try #require(await run.lane.report(.main)?.features.chat)
    #expect(chat.total == 101)
    #expect(chat.messages.count == 20)
    try await run.end()
  }

  @Test
  func `a snapshot that could not be read again is not written, and the previous one is kept`()
    async throws
  {
    let store = try SnapshotStore(directory: path)
    try store.start()
    let room = RoomLifetime("main")
    func post(_ snapshot: RoomSnapshot) async -> Bool {
      await withCheckedContinuation { continuation in
        store.post(snapshot, of: room) { continuation.resume(returning: $0) }
      }
    }
    #expect(await post(Self.snapshot(savedAt: 1)))
    let long = String(repeating: "x", count: EventLimits.titleLength + 1)
    #expect(await !post(Self.snapshot(savedAt: 2, title: long)))
    #expect(store.failure?.reason.contains("'header.title' is larger") == true)
    #expect(store.load("main").snapshot?.savedAt == 1)
    #expect(await post(Self.snapshot(savedAt: 3)))
    #expect(store.failure == nil)
    #expect(store.load("main").snapshot?.savedAt == 3)
    await store.close()
  }

  // MARK: A full room

  /// A name of the maximum length, made of the characters that are longest in JSON.
  private static func name(_ number: Int) -> String {
    let digits = "\(number)-"
    return digits + String(repeating: "\u{1}", count: EventLimits.nameLength - digits.utf8.count)
  }

  /// Sends more of everything than a room stores, each item of the maximum size.
  private static func flood() -> [LiveEvent.Payload] {
    // The longest text that fits on a line and, escaped, in the log.
    let text = String(repeating: "\u{1}", count: 60_000)
    let short = String(repeating: "\u{1}", count: 1_000)
    let names = (0..<32).map { Text(name($0)) }
    let title = Text(String(repeating: "\u{1}", count: EventLimits.titleLength))
    var payloads: [LiveEvent.Payload] = [
      .header(.title(title)), .chat(.highlight(names: names)),
      .chat(.filter(MessageFilter(words: "\u{1}"))),
      .poll(.begin(PollQuestion(id: names[0], title: title, options: names))),
      .activity(.prediction(Prediction(id: names[0], title: title, state: .open, options: names))),
    ]
    for number in 0..<5_000 {
      payloads.append(
        .chat(
          .message(
            ChatMessage(
              id: "short \(number)", userID: "u\(number)", userName: "n", text: "n \(number)"))))
    }
    for number in 0..<1_100 {
      let person = Person(id: Text(name(number)), name: Text(name(number)))
      payloads += [
        .chat(.timeout(ChatTimeout(user: Person(id: person.id, name: ""), seconds: 1))),
        .chat(.delete(messageID: person.id)),
        .chat(.notice(ChatNotice(kind: .gift, user: person, count: 1, group: person.id))),
        .chat(.notice(ChatNotice(kind: .raid, user: person, count: 1))),
        .waitingRoom(.join(person)),
      ]
    }
    for number in 0..<300 {
      let name = Text(Self.name(number))
      let person = Person(id: name, name: name)
      payloads += [
        .control(.slider(Slider(control: name, phase: .begin, value: 0.5))),
        .control(.tap(control: name, on: true)),
        .control(.meter(input: name, levels: [Float](repeating: 0.5, count: 64))),
        .source(.state(SourceHealth(source: name, state: .live, platform: name, reason: name))),
        .activity(.goal(Goal(title: name, count: 1, target: 2))),
        .activity(.redemption(Redemption(user: person, title: name, text: Text(short)))),
      ]
    }
    for number in 0..<24 {
      payloads.append(
        .chat(
          .message(
            ChatMessage(
              id: "long \(number)", userID: name(number), userName: name(number), text: text))))
    }
    return payloads
  }

  @Test(arguments: [false, true])
  func `a room with the maximum of everything can be saved and restored`(analysesChat: Bool)
    async throws
  {
    var settings = RoomSettings()
    settings.analysesChat = analysesChat
    let first = try KeptRooms(in: path, settings: settings)
    _ = try first.directory.open(.main)
    let events = Self.flood().enumerated().map {
      LiveEvent(timestamp: 1_700_000_000_000 + Timestamp($0.offset), payload: $0.element)
    }
    let failure = await withCheckedContinuation { continuation in
      first.lane.post(
        RoomDelivery(
          room: .main, events: events, clock: .event,
          receipt: DeliveryReceipt { continuation.resume(returning: $1) }))
    }
    #expect(failure == nil)
    let report = try #require(await first.lane.report(.main))
    try await first.end()
    #expect(first.store.failure == nil)
    let saved = try SnapshotStore(directory: path + "/rooms").load("main")
    #expect(saved.snapshot != nil && !saved.isOlder)
    let second = try KeptRooms(in: path, settings: settings)
    await second.restore()
    let copy = try #require(await second.lane.report(.main))
    #expect(copy.counters == report.counters)
    #expect(copy.features.chat?.total == report.features.chat?.total)
    #expect(copy.features.chat?.messages == report.features.chat?.messages)
    #expect(copy.features.waitingRoom?.waiting == report.features.waitingRoom?.waiting)
    #expect(copy.features.sources?.count == report.features.sources?.count)
    #expect(!second.log.contain("cannot be used"))
    try await second.end()
  }
}
