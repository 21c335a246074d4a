import ChatFeature
import Composable
import Foundation
import LiveEvents
import Testing
import ViewGraph

/// Acts on platforms, as the chat offers and shows them.
@Suite struct ChatActTests {
  private static let twitch = OfferedActs(
    platform: "twitch", source: "main",
    kinds: [.say, .reply, .delete, .timeOut, .ban, .mark, .setShield])
  private static let owncast = OfferedActs(platform: "owncast", kinds: [.say, .delete])

  private let chat = DrawnChat()
  private var store: Store<ChatFeature.State, ChatFeature.Action> { chat.store }

  private func offer(_ offers: OfferedActs...) {
    store.send(.actsChanged(ChatActs(offers: offers)))
  }

  private func show(_ performed: [PerformedAct], offers: [OfferedActs] = []) {
    store.send(.actsChanged(ChatActs(offers: offers, performed: performed)))
  }

  private func message(_ number: Int, on platform: Text) -> TimedMessage {
    TimedMessage(
      timestamp: 0,
      message: ChatMessage(id: "m\(number)", userID: "u", userName: "Ann", text: "hi"),
      origin: Origin(platform: platform, source: "chat"))
  }

  private func act(
    _ number: Int, _ act: PlatformAct, by: Text? = nil, _ outcome: RequestOutcome? = nil
  ) -> PerformedAct {
    PerformedAct(number: number, act: RequestedAct(act, by: by), outcome: outcome)
  }

  private func acts(of line: ViewNode?) -> [ViewAct] {
    if case .acting(let acts, _)? = line { acts } else { [] }
  }

  private func texts(_ lines: [ViewNode]) -> [String] {
    lines.compactMap { if case .text(let text, _) = $0 { text } else { nil } }
  }

  // MARK: Offered acts

  @Test func `a chat without a controller for acts offers only to read it`() throws {
    store.send(.messages([message(1, on: "twitch")]))
    let lines = try chat.lines()
    #expect(acts(of: lines.first).map(\.name) == ["SetChatFilter"])
    #expect(acts(of: lines.last).map(\.name) == ["ShowThread", "SetChatFilter", "ShowPerson"])
  }

  @Test func `the chat offers the acts that the controller can carry out, and only those`() throws {
    store.send(.messages([message(1, on: "twitch")]))
    offer(Self.twitch)
    let lines = try chat.lines()
    #expect(acts(of: lines.first).map(\.label) == ["filter by words", "say", "mark"])
    let say = try #require(acts(of: lines.first).first { $0.label == "say" })
    #expect(say.name == "Act" && say.input == .text("text"))
    #expect(say.arguments == ["kind": .text("say")])
    let rows = acts(of: lines.last).suffix(4)
    #expect(rows.map(\.label) == ["reply", "delete", "time out", "ban"])
    #expect(rows.map(\.confirms) == [false, true, false, true])
    #expect(rows.map(\.text) == ["text", nil, nil, nil])
    #expect(rows.allSatisfy { $0.input == .numberedRow("number") && $0.groups == ["twitch"] })
    #expect(
      rows.first { $0.label == "time out" }?.arguments
        == ["kind": .text("timeOut"), "seconds": .number(600)])
    offer()
    #expect(acts(of: try chat.lines().last).count == 3)
  }

  @Test func `an act on a message is offered for the platforms on which it is possible`() throws {
    store.send(.messages([message(1, on: "twitch"), message(2, on: "kick"), message(3, on: "")]))
    offer(Self.twitch, Self.owncast)
    let line = try #require(try chat.lines().last)
    let groups = acts(of: line).filter { $0.name == "Act" }.map { ($0.label, $0.groups) }
    #expect(groups.map(\.0) == ["reply", "delete", "time out", "ban"])
    #expect(groups.map(\.1) == [["twitch"], ["twitch", "owncast"], ["twitch"], ["twitch"]])
    guard case .acting(_, .list(let rows, _)) = line else {
      Issue.record("The chat must end with a list.")
      return
    }
    #expect(rows.map(\.group) == ["twitch", "kick", nil])
  }

  @Test func `a controller that acts on any platform is offered for every message`() throws {
    offer(OfferedActs(source: "everywhere", kinds: [.ban]), Self.twitch)
    let ban = acts(of: try chat.lines().last).first { $0.label == "ban" }
    #expect(ban != nil && ban?.groups == nil)
  }

  @Test
  func `if several controllers can write, each act names its platform and, if needed, source`()
    throws
  {
    let second = OfferedActs(platform: "twitch", source: "second", kinds: [.say])
    offer(Self.twitch, Self.owncast, second, OfferedActs(source: "everywhere", kinds: [.say]))
    let says = acts(of: try chat.lines().first).filter { $0.arguments["kind"] == .text("say") }
    #expect(
      says.map(\.label) == [
        "say on twitch/main", "say on owncast", "say on twitch/second", "say on everywhere",
      ])
    #expect(
      says.map { $0.arguments["platform"] } == [
        .text("twitch"), .text("owncast"), .text("twitch"), nil,
      ])
    #expect(
      says.map { $0.arguments["source"] } == [
        .text("main"), nil, .text("second"), .text("everywhere"),
      ])
  }

  @Test func `the chat is not evaluated again while the acts do not change`() throws {
    store.send(.messages([message(1, on: "twitch"), message(2, on: "twitch")]))
    offer(Self.twitch)
    store.deliverChanges()
    let graph = ViewGraph(ChatView(), place: store.place, clock: { 0 }, read: { store.state })
    graph.evaluateFrame()
    #expect(graph.statistics[ChatView.name]?.evaluations == 1)
    // The same acts again are no change of the state, so nothing is evaluated.
    offer(Self.twitch)
    store.deliverChanges()
    graph.evaluateFrame()
    #expect(graph.statistics[ChatView.name]?.evaluations == 1)
  }

  // MARK: Performed acts

  @Test func `acts without an outcome and failed acts are shown, and confirmed acts are not`()
    throws
  {
    store.send(.messages([message(1, on: "twitch")]))
    let ann = Person(id: "u", name: "Ann")
    show([
      act(1, try PlatformAct(.ban, person: ann), .confirmed),
      act(2, try PlatformAct(.delete, message: "m1"), by: "bob", .refused(reason: "too old")),
      act(3, try PlatformAct(.say, text: "hello"), .sent),
      act(4, try PlatformAct(.timeOut, person: ann, seconds: 600)),
      act(5, try PlatformAct(.reply, text: "yes", message: "m1")),
    ])
    #expect(
      texts(try chat.lines()) == [
        "delete a message from Ann (by bob): too old", #"say "hello": sent, not confirmed"#,
        "time out Ann for 10:00: pending", #"reply to Ann "yes": pending"#,
      ])
  }

  @Test func `three later acts replace a failed act on the screen`() throws {
    let failed = act(1, try PlatformAct(.mark), .refused(reason: "no answer"))
    let later = try (2...4).map { act($0, try PlatformAct(.mark), .confirmed) }
    show([failed] + later.prefix(2))
    #expect(texts(try chat.lines()) == ["mark the stream: no answer"])
    show([failed] + later)
    #expect(texts(try chat.lines()).isEmpty)
  }

  @Test func `of many acts without an outcome, the newest four and the count are shown`() throws {
    show(try (1...9).map { act($0, try PlatformAct(.say, text: Text("text \($0)"))) })
    #expect(
      texts(try chat.lines()) == (6...9).map { #"say "text \#($0)": pending"# } + ["9 acts pending"]
    )
  }

  @Test func `the author of a message is shown even after the message was deleted`() throws {
    store.send(.messages([message(1, on: "twitch")]))
    let delete = try PlatformAct(.delete, message: "m1")
    show([act(1, delete)])
    store.send(.messageDeleted("m1", at: 1))
    show([act(1, delete, .refused(reason: "no answer"))])
    #expect(texts(try chat.lines()) == ["delete a message from Ann: no answer"])
  }

  @Test func `a long text is quoted in part`() throws {
    show([act(1, try PlatformAct(.say, text: Text(String(repeating: "a", count: 500))))])
    let text = try #require(texts(try chat.lines()).first)
    #expect(text == #"say "\#(String(repeating: "a", count: 60))...": pending"#)
  }

  @Test func `the acts are saved with the chat, and a forged list is refused`() throws {
    show([act(1, try PlatformAct(.mark))], offers: [Self.twitch])
    let saved = try JSONEncoder().encode(store.state)
    let restored = try JSONDecoder().decode(ChatFeature.State.self, from: saved)
    #expect(restored == store.state)
    try restored.checkBounds()
    var forged = restored
    forged.acts?.performed = try (0...ChatActs.maximumActs).map { act($0, try PlatformAct(.mark)) }
    #expect(throws: OutOfBounds.self) { try forged.checkBounds() }
    forged = restored
    forged.acts?.offers = Array(repeating: Self.twitch, count: ChatActs.maximumOffers + 1)
    #expect(throws: OutOfBounds.self) { try forged.checkBounds() }
  }

  @Test func `without acts and controllers, the chat is saved as by an earlier version`() throws {
    show([])
    let saved = String(decoding: try JSONEncoder().encode(store.state), as: UTF8.self)
    #expect(store.state.acts == nil && !saved.contains("\"acts\""))
  }
}
