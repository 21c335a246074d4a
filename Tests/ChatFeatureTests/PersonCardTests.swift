import ChatFeature
import Foundation
import LiveEvents
import Testing

/// The card of a person, and the host's notes about people.
@Suite struct PersonCardTests {
  private func reference(_ id: Text, on platform: Text? = nil) -> PersonReference {
    PersonReference(id: id, platform: platform)
  }

  private func written(_ number: Int, by user: Text, on platform: Text) -> TimedMessage {
    TimedMessage(
      timestamp: 1_000,
      message: ChatMessage(
        id: "m\(number)", userID: String(user), userName: "Name \(platform)", text: "hi"),
      origin: Origin(platform: platform))
  }

  private func open(_ id: Text, in state: inout ChatFeature.State) {
    state.apply(.reading(.personOpened(reference(id))))
  }

  private func note(_ id: Text, _ text: Text) throws -> ChatFeature.Action {
    .reading(.personNoted(try #require(PersonNote(about: reference(id), text))))
  }

  private func ended(
    _ number: Int, _ act: PlatformAct, by: Text? = "bob", _ outcome: RequestOutcome = .confirmed
  ) -> PerformedAct {
    PerformedAct(
      number: number, act: RequestedAct(act, platform: "twitch", by: by), outcome: outcome)
  }

  private func numbers(_ card: PersonCard?) -> [Int]? { card?.newest.map(\.number) }

  // MARK: Messages

  @Test func `a card shows what the chat knows about an author, and follows new messages`() throws {
    var state = ChatFeature.State(historyLimit: 10)
    state.apply(.messages((1...8).map { message($0, at: Timestamp($0) * 100) }))
    state.apply(.messages([message(9, by: "bob")]))
    open("ann", in: &state)
    var card = try #require(state.card)
    #expect(card.name == "ANN" && card.person == reference("ann"))
    #expect(card.messages == 8 && card.messagesAtLeast == nil)
    #expect(card.firstAt == 100 && card.firstAtMost == nil)
    #expect(numbers(card) == [4, 5, 6, 7, 8])
    state.apply(
      .messages([
        message(10), message(11, by: "bob"),
        message(12),
      ]))
    card = try #require(state.card)
    #expect(card.messages == 10 && numbers(card) == [6, 7, 8, 10, 12])
    state.apply(.reading(.personClosed))
    #expect(state.card == nil)
  }

  @Test func `the time of the first message is a bound if the history no longer has it`() {
    var state = ChatFeature.State(historyLimit: 3)
    state.apply(.messages((1...8).map { message($0, at: Timestamp($0) * 100) }))
    open("ann", in: &state)
    #expect(state.card?.messages == 8 && numbers(state.card) == [6, 7, 8])
    #expect(state.card?.firstAt == 600 && state.card?.firstAtMost == true)
  }

  @Test func `a card without any message is filled by the first message of its person`() {
    var state = ChatFeature.State()
    open("ann", in: &state)
    #expect(state.card?.name == "ann" && state.card?.messages == 0)
    #expect(state.card?.firstAt == nil && state.card?.firstAtMost == nil)
    state.apply(.messages([message(1, at: 700)]))
    #expect(state.card?.name == "ANN" && state.card?.messages == 1)
    #expect(state.card?.firstAt == 700 && numbers(state.card) == [1])
  }

  @Test func `messages that moderation hides on arrival are counted but not shown on the card`() {
    var state = ChatFeature.State()
    state.apply(.messages([message(1, at: 1_000)]))
    open("ann", in: &state)
    state.apply(
      .timedOut(timeout("ann"), at: 2_000), .messages([message(2, at: 1_500)]))
    #expect(state.card?.messages == 2 && numbers(state.card) == [])
    #expect(state.card?.name == "ANN", "A name must outlast the person's messages.")
    state.apply(.messages([message(3, at: 3_000)]))
    #expect(state.card?.messages == 3 && numbers(state.card) == [3])
  }

  @Test func `after a deletion, an older stored message takes the place of the deleted message`() {
    var state = ChatFeature.State()
    state.apply(.messages((1...7).map { message($0) }))
    open("ann", in: &state)
    state.apply(.messageDeleted("m5", at: 2_000))
    #expect(numbers(state.card) == [2, 3, 4, 6, 7])
    state.apply(.messageDeleted("m1", at: 2_000))
    #expect(numbers(state.card) == [2, 3, 4, 6, 7])
    state.apply(.cleared(at: 3_000))
    #expect(numbers(state.card) == [] && state.card?.messages == 7)
  }

  @Test func `a card keeps messages that have left a short history`() {
    var state = ChatFeature.State(historyLimit: 3)
    state.apply(.messages((1...3).map { message($0) }))
    open("ann", in: &state)
    state.apply(
      .messages((4...6).map { message($0, by: "bob") }),
      .messages([message(7)]))
    #expect(numbers(state.card) == [1, 2, 3, 7])
    state.apply(.messageDeleted("m7", at: 2_000))
    #expect(numbers(state.card) == [1, 2, 3])
  }

  @Test func `people with the same identifier on two platforms have separate cards`() {
    var state = ChatFeature.State()
    state.apply(
      .messages([
        written(1, by: "7", on: "kick"), written(2, by: "7", on: "twitch"),
        written(3, by: "7", on: "kick"), written(4, by: "7", on: "twitch"),
      ]))
    state.apply(.reading(.personOpened(reference("7", on: "kick"))))
    #expect(numbers(state.card) == [1, 3] && state.card?.name == "Name kick")
    state.apply(.messages([written(5, by: "7", on: "twitch"), written(6, by: "7", on: "kick")]))
    #expect(numbers(state.card) == [1, 3, 6])
    // Without a platform, the newest message decides.
    open("7", in: &state)
    #expect(state.card?.person == reference("7", on: "kick"))
  }

  // MARK: Moderations

  @Test func `a card lists deletions, time-outs and bans, also those before it was opened`() throws
  {
    var state = ChatFeature.State()
    state.apply(
      .messages([message(1), message(2, by: "bob")]),
      .messageDeleted("m1", at: 1_100), .messageDeleted("m2", at: 1_200),
      .messageDeleted("unknown", at: 1_250), .timedOut(timeout("ann"), at: 1_300))
    open("ann", in: &state)
    let ban = ChatTimeout(user: Person(id: "ann", name: "Ann"), seconds: nil)
    state.apply(.timedOut(ban, at: 1_400))
    let moderations = try #require(state.card?.moderations)
    #expect(moderations.map(\.kind) == [.delete, .timeOut, .ban])
    #expect(moderations.map(\.timestamp) == [1_100, 1_300, 1_400])
    #expect(moderations.map(\.seconds) == [nil, 10, nil])
    #expect(moderations.allSatisfy { $0.by == nil && $0.outcome == nil && $0.isReported })
  }

  @Test func `a time-out of a person without identifier concerns everybody with this name`() {
    var state = ChatFeature.State()
    state.apply(.messages([message(1)]))
    let nameOnly = ChatTimeout(user: Person(id: "", name: "ann"), seconds: 60)
    open("ann", in: &state)
    state.apply(.timedOut(nameOnly, at: 1_100))
    #expect(state.card?.moderations.map(\.kind).last == .timeOut && numbers(state.card) == [])
  }

  @Test(arguments: [true, false])
  func `the outcome of an act and the platform's report of it are one moderation`(
    isReportFirst: Bool
  ) throws {
    var state = ChatFeature.State()
    state.apply(.messages([message(1)]))
    open("ann", in: &state)
    let ann = Person(id: "ann", name: "Ann")
    let act = ended(1, try PlatformAct(.timeOut, person: ann, seconds: 10))
    let actions: [ChatFeature.Action] = [
      .actsChanged(ChatActs(performed: [act])), .timedOut(timeout("ann"), at: 1_500),
    ]
    for action in isReportFirst ? actions.reversed() : actions { state.apply(action) }
    var moderations = try #require(state.card?.moderations)
    #expect(moderations.count == 1 && moderations.first?.timestamp == 1_500)
    #expect(moderations.first?.by == "bob" && moderations.first?.outcome == .confirmed)
    // A second time-out of the same length is another one.
    state.apply(.timedOut(timeout("ann"), at: 2_000))
    moderations = try #require(state.card?.moderations)
    #expect(moderations.map(\.by) == ["bob", nil])
  }

  @Test func `the report of another moderation is not taken for the act`() throws {
    var state = ChatFeature.State()
    state.apply(.messages([message(1)]))
    open("ann", in: &state)
    let ann = Person(id: "ann", name: "Ann")
    let refused = RequestOutcome.refused(reason: "no answer")
    state.apply(
      .actsChanged(
        ChatActs(performed: [
          ended(1, try PlatformAct(.timeOut, person: ann, seconds: 10), refused),
          ended(2, try PlatformAct(.timeOut, person: ann, seconds: 60)),
        ])),
      .timedOut(timeout("ann"), at: 1_500), .timedOut(timeout("ann"), at: 500_000))
    #expect(state.card?.moderations.map(\.outcome) == [refused, .confirmed, nil, nil])
  }

  @Test func `a deletion by an act appears on the card of the author, and only once`() throws {
    var state = ChatFeature.State()
    state.apply(.messages([message(1)]))
    let delete = try PlatformAct(.delete, message: "m1")
    let pending = PerformedAct(number: 1, act: RequestedAct(delete, by: "bob"))
    state.apply(
      .actsChanged(ChatActs(performed: [pending])), .messageDeleted("m1", at: 1_100),
      .actsChanged(ChatActs(performed: [ended(1, delete)])),
      .actsChanged(ChatActs(performed: [ended(1, delete)])))
    open("ann", in: &state)
    let moderations = try #require(state.card?.moderations)
    #expect(moderations.map(\.kind) == [.delete] && moderations.map(\.by) == ["bob"])
  }

  @Test func `the log of moderations and the card's part of it are bounded`() throws {
    var state = ChatFeature.State()
    open("ann", in: &state)
    for number in 1...20 { state.apply(.timedOut(timeout("ann"), at: Timestamp(number) * 1_000)) }
    #expect(state.card?.moderations.map(\.timestamp) == (5...20).map { $0 * 1_000 })
    for number in 1...500 {
      state.apply(.timedOut(timeout("user\(number)"), at: Timestamp(number) * 1_000))
    }
    #expect(state.bookkeeping.moderationLog?.entries.count == ModerationLog.limit)
    open("ann", in: &state)
    #expect(state.card?.moderations == [])
    try state.checkBounds()
  }

  // MARK: Notes

  @Test func `a note stays with its person until it is replaced or removed`() throws {
    var state = ChatFeature.State()
    state.apply(.messages([written(1, by: "7", on: "twitch")]), try note("7", "asks for songs"))
    open("7", in: &state)
    #expect(state.card?.note == "asks for songs")
    // The note found its platform, so a namesake of another platform has none.
    state.apply(.reading(.personOpened(reference("7", on: "kick"))))
    #expect(state.card?.note == nil)
    state.apply(.reading(.personOpened(reference("7", on: "twitch"))), try note("7", "new"))
    #expect(state.card?.note == "new" && state.notes?.entries.count == 1)
    state.apply(try note("8", "another"))
    #expect(state.card?.note == "new")
    state.apply(try note("7", ""), try note("8", ""))
    #expect(state.card?.note == nil && state.notes == nil)
  }

  @Test func `a new note displaces the oldest of 256 notes`() throws {
    var state = ChatFeature.State()
    for number in 0..<PersonNotes.limit { state.apply(try note(Text("u\(number)"), "note")) }
    // A note that is written again becomes the newest.
    state.apply(try note("u0", "again"), try note("new", "note"))
    #expect(state.notes?.entries.count == PersonNotes.limit)
    #expect(state.notes?[reference("u0")] == "again" && state.notes?[reference("u1")] == nil)
    try state.checkBounds()
  }

  // MARK: Saved states

  private func full() throws -> ChatFeature.State {
    var state = ChatFeature.State()
    state.apply(
      .messages((1...9).map { message($0) }), .messageDeleted("m9", at: 1_100),
      try note("ann", "a note"))
    open("ann", in: &state)
    return state
  }

  private func restored(_ text: String) throws -> ChatFeature.State {
    try JSONDecoder().decode(ChatFeature.State.self, from: Data(text.utf8))
  }

  @Test func `a card and notes survive a restart, and a restored card follows the chat`() throws {
    var state = try full()
    let text = String(decoding: try JSONEncoder().encode(state), as: UTF8.self)
    var copy = try restored(text)
    #expect(copy == state && copy.card != nil && copy.notes != nil)
    try copy.checkBounds()
    let later: [ChatFeature.Action] = [
      .messages([message(10)]), .messageDeleted("m8", at: 1_200),
    ]
    for action in later {
      state.apply(action)
      copy.apply(action)
    }
    #expect(copy == state && copy.card?.moderations.count == 2)
  }

  @Test func `a chat without cards and notes is saved as by an earlier version`() throws {
    var state = ChatFeature.State()
    state.apply(.messages([message(1)]))
    let saved = String(decoding: try JSONEncoder().encode(state), as: UTF8.self)
    for member in ["card", "notes", "moderationLog"] {
      #expect(!saved.contains("\"\(member)\""))
    }
  }

  @Test(arguments: [
    (#""note":"a note""#, #""note":"\#(String(repeating: "x", count: 501))""#),
    (#""text":"a note""#, #""text":"\#(String(repeating: "x", count: 501))""#),
    (#""name":"ANN""#, #""name":"\#(String(repeating: "x", count: 257))""#),
    (#""messages":9,"#, #""messages":9007199254740993,"#),
  ])
  func `a saved card beyond the limits is refused`(_ text: String, _ forged: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let saved = String(decoding: try encoder.encode(try full()), as: UTF8.self)
    let changed = saved.replacing(text, with: forged)
    #expect(changed != saved, "\(saved)")
    let state = try restored(changed)
    #expect(throws: OutOfBounds.self) { try state.checkBounds() }
  }
}
