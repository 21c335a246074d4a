import ChatFeature
import Composable
import LiveEvents
import Testing
import ViewGraph

/// A person's card and acts that can be undone, as the chat draws them.
@Suite struct PersonCardViewTests {
  private static let twitch = OfferedActs(
    platform: "twitch", source: "main", kinds: [.timeOut, .ban, .unban])

  private let chat = DrawnChat()
  private var store: Store<ChatFeature.State, ChatFeature.Action> { chat.store }

  private func say(_ text: String = "hello", name: String = "Ann", at time: Timestamp = 3_600_000) {
    let message = ChatMessage(
      id: "m", userID: "u1", userName: name, badges: "vip/1", text: text)
    store.send(
      .messages([
        TimedMessage(timestamp: time, message: message, origin: Origin(platform: "twitch"))
      ]))
  }

  private func open(on platform: Text? = nil) {
    store.send(.reading(.personOpened(PersonReference(id: "u1", platform: platform))))
  }

  /// The texts of the lines of the card, and the acts of its first line.
  private func card() throws -> (lines: [[String]], acts: [ViewAct]) {
    var lines: [[String]] = []
    var acts: [ViewAct] = []
    for line in try chat.lines().dropFirst() {
      switch line {
      case .acting(let offered, .row(let nodes)):
        acts = offered
        lines.append(texts(nodes))
      case .row(let nodes): lines.append(texts(nodes))
      case .text(let text, _): lines.append([text])
      default: break
      }
    }
    return (lines, acts)
  }

  private func texts(_ nodes: [ViewNode]) -> [String] {
    nodes.compactMap { if case .text(let text, _) = $0 { text } else { nil } }
  }

  @Test func `a card shows the person, the figures, the note and the moderations`() throws {
    say()
    store.send(
      .timedOut(ChatTimeout(user: Person(id: "u1", name: "Ann"), seconds: 60), at: 3_601_000))
    say("again", at: 3_602_000)
    let note = try #require(PersonNote(about: PersonReference(id: "u1"), "asks for songs"))
    store.send(.reading(.personNoted(note)))
    open()
    #expect(
      try card().lines == [
        ["person:", "Ann", "on twitch", "identifier u1", "badges vip/1"],
        ["2 messages", "first at 01:00:02 or earlier"], ["note:", "asks for songs"],
        ["01:00:01 timed out for 1:00"],
      ])
  }

  @Test func `a card without a controller offers to note, to filter and to close`() throws {
    say()
    open()
    let acts = try card().acts
    #expect(acts.map(\.label) == ["close", "note", "only this person"])
    #expect(acts.map(\.name) == ["ShowPerson", "NotePerson", "SetChatFilter"])
    #expect(acts[0].arguments.isEmpty && acts[1].input == .text("text"))
    #expect(acts[1].arguments == ["user": .text("u1"), "platform": .text("twitch")])
  }

  @Test func `a card offers the acts that are possible on the platform of its person`() throws {
    say()
    open()
    store.send(.actsChanged(ChatActs(offers: [Self.twitch])))
    let acts = try card().acts.dropFirst(3)
    #expect(
      acts.map(\.label) == ["time out 1 min", "time out 10 min", "time out 1 h", "lift", "ban"])
    #expect(acts.map(\.confirms) == [false, false, false, false, true])
    #expect(
      acts.first?.arguments == [
        "kind": .text("timeOut"), "seconds": .number(60), "platform": .text("twitch"),
        "user": .texts(["id": "u1", "name": "Ann"]),
      ])
    open(on: "kick")
    #expect(try card().acts.count == 3)
    store.send(.actsChanged(ChatActs(offers: [OfferedActs(kinds: [.ban])])))
    #expect(try card().acts.last?.label == "ban", "A controller may act on any platform.")
  }

  @Test func `a hostile name stays one text and one argument`() throws {
    let name = "</b>\u{1B}[2J\u{202E}\" y/n"
    say(name: name)
    open()
    store.send(.actsChanged(ChatActs(offers: [Self.twitch])))
    let card = try card()
    #expect(card.lines[0][1] == name)
    #expect(card.acts.last?.arguments["user"] == .texts(["id": "u1", "name": name]))
  }

  @Test func `an open card is evaluated only when its content changes`() throws {
    say()
    open()
    store.deliverChanges()
    let graph = ViewGraph(ChatView(), place: store.place, clock: { 0 }, read: { store.state })
    graph.evaluateFrame()
    store.send(.reading(.personClosed))
    store.deliverChanges()
    graph.evaluateFrame()
    store.send(.reading(.personClosed))
    store.deliverChanges()
    graph.evaluateFrame()
    #expect(graph.statistics[ChatView.name]?.evaluations == 2)
  }

  // MARK: Undoing

  private func show(_ acts: (PlatformAct, RequestOutcome?)..., offers: [OfferedActs]) {
    let performed = acts.enumerated().map { number, act in
      PerformedAct(
        number: number + 1,
        act: RequestedAct(act.0, platform: "twitch", source: "main", by: "bob"), outcome: act.1)
    }
    store.send(.actsChanged(ChatActs(offers: offers, performed: performed)))
  }

  /// The texts and the acts of the lines about acts.
  private func undoable() throws -> [(text: String, act: ViewAct)] {
    try chat.lines().compactMap { line in
      guard case .acting(let acts, .text(let text, _)) = line, let act = acts.first else {
        return nil
      }
      return (text, act)
    }
  }

  @Test func `a confirmed time-out or ban can be lifted, and nothing else`() throws {
    let ann = Person(id: "u1", name: "Ann")
    show(
      (try PlatformAct(.timeOut, person: ann, seconds: 600), .confirmed),
      (try PlatformAct(.ban, person: Person(id: "u2", name: "Eve")), .confirmed),
      (try PlatformAct(.delete, message: "m"), .confirmed), offers: [Self.twitch])
    var lines = try undoable()
    #expect(
      lines.map(\.text) == ["time out Ann for 10:00 (by bob): done", "ban Eve (by bob): done"])
    #expect(lines.map(\.act.label) == ["lift", "lift"] && lines[0].act.name == "Act")
    #expect(
      lines[0].act.arguments == [
        "kind": .text("unban"), "user": .texts(["id": "u1", "name": "Ann"]),
        "platform": .text("twitch"), "source": .text("main"),
      ])
    show(
      (try PlatformAct(.timeOut, person: ann, seconds: 600), .sent),
      (try PlatformAct(.ban, person: ann), .refused(reason: "no answer")),
      (try PlatformAct(.ban, person: ann), nil), offers: [Self.twitch])
    lines = try undoable()
    #expect(lines.isEmpty)
  }

  @Test func `a ban that was lifted, or that no controller can lift, offers nothing`() throws {
    let ann = Person(id: "u1", name: "Ann")
    let (ban, unban) = (
      try PlatformAct(.ban, person: ann), try PlatformAct(.unban, person: ann)
    )
    show(
      (ban, .confirmed), offers: [OfferedActs(platform: "twitch", source: "main", kinds: [.ban])])
    #expect(try undoable().isEmpty)
    for outcome in [nil, RequestOutcome.confirmed] {
      show((ban, .confirmed), (unban, outcome), offers: [Self.twitch])
      #expect(try undoable().isEmpty)
    }
    show((ban, .confirmed), (unban, .refused(reason: "no answer")), offers: [Self.twitch])
    #expect(try undoable().count == 1)
    show((unban, .confirmed), (ban, .confirmed), offers: [Self.twitch])
    #expect(try undoable().count == 1, "A later ban can be lifted again.")
  }
}
