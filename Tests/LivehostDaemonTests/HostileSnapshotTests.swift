import ControlInterface
import Foundation
import HostScreen
import Ingest
import JSON
import LiveEvents
import RateLimiting
import Rooms
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
  private static let longName = String(repeating: "x", count: 300)

  private static let possible: [(String, String)] = [
    ("screen.state.header.title", string(EventLimits.titleLength)),
    ("screen.state.activity.goals", list(goal, 4)),
    ("screen.state.control.switches.entries", list(control, 300)),
    ("screen.state.chat.topChatters", list(chatter, 5)),
    ("screen.counts.received", "9"),
    ("unknown.member", list("1", 2_000)),
    ("unknown.member", string(300)),
    ("unknown.\(longName)", "1"),
  ]

  @Test(arguments: possible)
  func `saved values that a room can reach are accepted`(_ path: String, _ value: String) throws {
    let snapshot = try RoomSnapshot(decoding: Self.text(path, value))
    #expect(snapshot.room == "main" && snapshot.screen.counts.received == 9)
  }

  /// Impossible values, each with a part of the expected reason.
  private static let impossible: [(String, String, String)] = [
    (
      "screen.state.header.title", string(EventLimits.titleLength + 1),
      "'screen.state.header.title'"
    ),
    ("screen.state.activity.goals", list(goal, 5), "'screen.state.activity.goals'"),
    (
      "screen.state.control.switches.entries", list(control, 600), "'screen.state.control.switches'"
    ),
    ("screen.state.chat.topChatters", list(chatter, 6), "'screen.state.chat.topChatters'"),
    ("screen.counts.received", "10", "'screen.counts'"),
    ("screen.counts.applied", "9007199254740992", "'screen.counts'"),
    ("screen.counts.rejectedByReason", #"{"unknownType":3}"#, "'screen.counts'"),
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

  /// The decoder accepts more encodings than this program writes. The limits apply to all of them.
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

  // MARK: Every member

  /// A room that has something in every part of its state.
  private static func fullSnapshot() -> RoomSnapshot {
    let screen = HostScreen.still(analysesChat: true)
    let bomb: Text = "bomb"
    let (open, again): (Timestamp, Timestamp) = (1_700_000_000_000, 1_700_000_060_000)
    var payloads: [LiveEvent.Payload] = [
      .stream(.live), .waitingRoom(.join(person)), .waitingRoom(.capacity(5)),
      .waitingRoom(.schedule(startsAt: again)), .waitingRoom(.pace(perSecond: 0.5)),
      .header(.title("Evening")), .header(.viewers(count: 5)),
      .header(.reaction(kind: "like", count: 2)), .chat(.highlight(names: ["ann"])),
      .chat(.filter(MessageFilter(person: "ann", words: "hello", platform: "twitch"))),
      .chat(.modes(ChatModes(slowSeconds: 5, followersOnlyMinutes: 5))),
      .chat(.timeout(ChatTimeout(user: Person(id: "eve", name: "Eve"), seconds: 60))),
      .chat(.delete(messageID: "old")),
      .chat(.notice(ChatNotice(kind: .gift, user: person, count: 1, group: bomb, id: "gift"))),
      .chat(
        .notice(
          ChatNotice(
            kind: .resubscribe, user: person, count: 5, id: "again",
            message: ChatMessage(id: "again", userID: "ann", userName: "Ann", text: "hello")))),
      .activity(.follow(user: person, id: "follow")),
      .activity(
        .redemption(
          Redemption(user: person, title: "Water", cost: 5, text: "hello", emotes: [0..<5], id: "r")
        )),
      .activity(
        .hypeTrain(
          HypeTrain(phase: .begin, level: 1, total: 5, progress: 5, goal: 9, endsAt: again))),
      .activity(
        .prediction(
          Prediction(
            id: "p", title: "Won?", state: .open, options: ["Yes", "No"], totals: [1, 2],
            endsAt: again))),
      .activity(.goal(Goal(title: "followers", count: 1, target: 2))),
      .poll(.begin(PollQuestion(id: "q", title: "Which?", options: ["A", "B"], endsAt: again))),
      .source(
        .state(
          SourceHealth(
            source: "chat", state: .behind, platform: "twitch", reason: "slow",
            behindMilliseconds: 5, notShown: 5))),
      .source(.gap(MissedTime(source: "chat", from: open - 5, to: open, reason: "network"))),
      .recorder(.state(.recording)),
      .recorder(.progress(RecorderProgress(bytes: 5, durationMilliseconds: 5, done: 1, total: 5))),
      .control(.slider(Slider(control: "volume", phase: .begin, value: 0.5))),
      .control(.meter(input: "microphone", levels: [0.5])),
      .control(.controller(.began(controller: 1, controls: ["mute", "gain"]))),
      .control(
        .controller(
          .began(
            controller: 2, controls: [],
            acts: OfferedActs(
              platform: "twitch", source: "chat", kinds: [.timeOut, .reply, .setChatModes])))),
      .control(.act(requested(.timeOut, person: person, seconds: 60, reason: "spam"))),
      .control(.outcome(request: 1, .refused(reason: "not now"))),
      .control(.act(requested(.reply, text: "hello", message: "m0"))),
      .control(.act(requested(.setChatModes, modes: ChatModes(slowSeconds: 5)))),
      .control(.tap(control: "mute", on: true)), .control(.set(control: "gain", value: 0.5)),
      .liveRoomStats(
        StreamStatistics(
          bitrateKbps: 5_000, framesPerSecond: 60, droppedFrames: 1, roundTripMilliseconds: 50,
          congestion: 0.1)),
    ]
    for number in 0..<3 {
      payloads.append(
        .chat(
          .message(
            ChatMessage(
              id: "m\(number)", userID: "ann", userName: "Ann", text: "hello",
              replyTo: number > 0 ? "m0" : "", emotes: [0..<5]))))
    }
    payloads += [.chat(.openThread(messageID: "m0")), .chat(.scroll(.back))]
    let ann = PersonReference(id: "ann", platform: "twitch")
    payloads += [.chat(.openPerson(ann)), .chat(.delete(messageID: "m1"))]
    if let note = PersonNote(about: ann, "hello") { payloads.append(.chat(.notePerson(note))) }
    for (number, payload) in payloads.enumerated() {
      let now = Instant.origin + .seconds(Int64(number))
      let time = open + Timestamp(number) * 1_000
      screen.receive(LiveEvent(timestamp: time, payload: payload), at: now)
      screen.drawFrame(at: now, flush: true)
    }
    for (number, platform) in ["kick", "twitch", "kick"].enumerated() {
      let second = Int64(payloads.count + number)
      for payload in [
        LiveEvent.Payload.header(.title("Evening")), .header(.category("Art")),
        .header(.viewers(count: 5)), .stream(.live),
        .liveRoomStats(StreamStatistics(bitrateKbps: 5_000, droppedFrames: 1)),
      ] {
        screen.receive(
          LiveEvent(
            timestamp: open + second * 1_000, payload: payload,
            origin: Origin(platform: Text(platform), source: "chat")),
          at: .origin + .seconds(second))
      }
      screen.drawFrame(at: .origin + .seconds(second), flush: true)
    }
    return RoomSnapshot(
      room: "main", savedAt: 1, instant: .origin + .seconds(100), screen: screen.snapshot,
      sequence: 1)
  }

  private static func requested(
    _ kind: ActKind, text: Text? = nil, message: Text? = nil, person: Person? = nil,
    seconds: Int? = nil, reason: Text? = nil, modes: ChatModes? = nil
  ) -> RequestedAct {
    guard
      let act = try? PlatformAct(
        kind, text: text, message: message, person: person, seconds: seconds, reason: reason,
        modes: modes)
    else { preconditionFailure("an example of \(kind) is not possible") }
    return RequestedAct(act, platform: "twitch", source: "chat", by: "bob")
  }

  /// The paths of all values in a JSON value.
  private static func paths(in value: Any, _ path: [String] = []) -> [[String]] {
    if let members = value as? [String: Any] {
      return members.sorted { $0.key < $1.key }.flatMap { paths(in: $0.value, path + [$0.key]) }
    }
    if let elements = value as? [Any] {
      return [path] + elements.enumerated().flatMap { paths(in: $1, path + ["\($0)"]) }
    }
    return [path]
  }

  private static func replacing(
    _ path: ArraySlice<String>, in value: Any, _ change: (Any) -> Any?
  ) -> Any? {
    guard let name = path.first else { return change(value) }
    if var members = value as? [String: Any], let member = members[name] {
      guard let new = replacing(path.dropFirst(), in: member, change) else { return nil }
      members[name] = new
      return members
    }
    if var elements = value as? [Any], let index = Int(name) {
      guard let new = replacing(path.dropFirst(), in: elements[index], change) else { return nil }
      elements[index] = new
      return elements
    }
    return nil
  }

  /// The screens that are restored after each value of a full snapshot was replaced in turn.
  private static func accepted(
    _ change: (Any) -> Any?
  ) throws -> [(path: String, screen: ScreenSnapshot)] {
    let text = try JSONWriter.text(of: fullSnapshot())
    _ = try RoomSnapshot(decoding: text)
    let object = try JSONSerialization.jsonObject(with: Data(text))
    var (accepted, count): ([(String, ScreenSnapshot)], Int) = ([], 0)
    for path in paths(in: object) {
      guard let forged = replacing(path[...], in: object, change) else { continue }
      count += 1
      let data = try JSONSerialization.data(withJSONObject: forged)
      guard let snapshot = try? RoomSnapshot(decoding: Array(data)) else { continue }
      accepted.append((path.joined(separator: "."), snapshot.screen))
    }
    try #require(count > 20)
    return accepted
  }

  /// Whether a value is a number, and not a Boolean, of which Foundation makes a number as well.
  private static func isNumber(_ value: Any) -> Bool {
    (value as? NSNumber).map { String(cString: $0.objCType) != "c" } ?? false
  }

  @Test(arguments: [Int.max, Int.min])
  func `a huge number in a snapshot is refused, or the room continues`(_ number: Int) throws {
    let accepted = try Self.accepted { Self.isNumber($0) ? number : nil }
    for (path, saved) in accepted {
      let screen = HostScreen.still(restoring: saved)
      for second in Int64(101)...105 {
        let time = 1_700_000_000_000 + second * 1_000
        let message = ChatMessage(id: "n\(second)", userID: "ann", userName: "Ann", text: "hello")
        for payload in [
          LiveEvent.Payload.chat(.message(message)), .header(.viewers(count: 5)),
          .chat(.scroll(.end)),
          .activity(.follow(user: Self.person, id: nil)), .waitingRoom(.admit(.next)),
          .liveRoomStats(StreamStatistics(bitrateKbps: 5, droppedFrames: 5)),
        ] {
          screen.receive(
            LiveEvent(timestamp: time, payload: payload), at: .origin + .seconds(second))
        }
        screen.drawFrame(at: .origin + .seconds(second), flush: true)
      }
      #expect(try !JSONWriter.text(of: screen.snapshot).isEmpty, "\(path)")
    }
  }

  @Test func `only the waiting room accepts a list of any length, and shortens it`() throws {
    let accepted = try Self.accepted { value in
      (value as? [Any]).flatMap { list in
        list.first.map { [Any](repeating: $0, count: 30_000) }
      }
    }
    #expect(accepted.map(\.path).filter { !$0.hasSuffix("waitingRoom.people") } == [])
  }

  @Test func `only colors, of which the text is not kept, accept a text of any length`() throws {
    let long = String(repeating: "x", count: 70_000)
    let accepted = try Self.accepted { ($0 as? String).map { _ in long } }
    #expect(accepted.map(\.path).filter { !$0.hasSuffix(".message.color") } == [])
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
    #expect(store.failure?.reason.contains("'screen.state.header.title'") == true)
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
