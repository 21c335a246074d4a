import JSON
import LiveEvents
import LiveSources
import RateLimiting
import SocialStream
import TestSupport
import Testing

struct SocialStreamActsTests {
  private static let now = Instant.origin + .seconds(2)

  private static func session(
    acts: [ActKind] = SocialStreamSession.acts, isOpen: Bool = true
  ) -> SocialStreamSession {
    var session = SocialStreamSession(
      run: "run", acts: acts, generator: SplitMix64(seed: 1), at: .origin)
    session.wake(at: .origin)
    if isOpen { session.opened(1, at: now) }
    _ = session.takeEffects()
    return session
  }

  private static func ban(_ id: Text, _ name: Text) throws -> PlatformAct {
    try PlatformAct(.ban, person: Person(id: id, name: name))
  }

  /// Carries out an act, and returns the effects.
  private static func effects(
    of act: PlatformAct, in session: SocialStreamSession = session()
  ) -> [SocialStreamSession.Effect] {
    var session = session
    session.carryOut(ActRequest(identifier: "main/1", act: act), at: now)
    return session.takeEffects()
  }

  private static func refusal(_ reason: String) -> [SocialStreamSession.Effect] {
    [.outcome(request: "main/1", .refused(reason: reason))]
  }

  @Test func `a text is sent as JSON, and the outcome is that it was sent`() throws {
    let text = Text("hi\"}, {\"action\": \"clearAll")
    #expect(
      Self.effects(of: try PlatformAct(.say, text: text)) == [
        .send(1, ["action": "sendChat", "value": .string(String(text))]),
        .outcome(request: "main/1", .sent),
      ])
  }

  @Test func `a ban names the person and the platform in the person's identifier`() throws {
    #expect(
      Self.effects(of: try Self.ban("youtube/UC/1", "Ada")) == [
        .send(1, ["action": "blockUser", "value": ["chatname": "Ada", "type": "youtube"]]),
        .outcome(request: "main/1", .sent),
      ])
  }

  @Test(arguments: ["UC1", "/UC1"] as [Text])
  func `a person whose platform is unknown cannot be banned`(id: Text) throws {
    #expect(
      Self.effects(of: try Self.ban(id, "Ada"))
        == Self.refusal("the platform of the person is unknown"))
  }

  @Test(
    arguments: [
      "/clear", "  /ban ada", ".clear", "\u{FEFF}/clear", "/\u{301}clear", ".\u{200B}clear",
    ] as [Text])
  func `a text that a chat would execute as a command is refused`(text: Text) throws {
    #expect(
      Self.effects(of: try PlatformAct(.say, text: text))
        == Self.refusal(
          "the chats would execute the text as a command"))
  }

  @Test(arguments: ["... well", "1/2", "a /clear"] as [Text])
  func `a text that is not a command is sent`(text: Text) throws {
    #expect(
      Self.effects(of: try PlatformAct(.say, text: text)).last
        == .outcome(request: "main/1", .sent))
  }

  @Test func `acts are refused while the server is not connected`() throws {
    let act = try PlatformAct(.say, text: "hi")
    let reason = "the server of Social Stream Ninja is not connected"
    #expect(Self.effects(of: act, in: Self.session(isOpen: false)) == Self.refusal(reason))
    var session = Self.session()
    session.closed(1, reason: "gone", at: Self.now)
    _ = session.takeEffects()
    #expect(Self.effects(of: act, in: session) == Self.refusal(reason))
  }

  @Test func `acts that are not offered are refused`() throws {
    let reason = "Social Stream Ninja cannot carry out this act"
    #expect(
      Self.effects(of: try PlatformAct(.delete, message: "m1")) == Self.refusal(reason))
    #expect(
      Self.effects(of: try PlatformAct(.say, text: "hi"), in: Self.session(acts: [.ban]))
        == Self.refusal(reason))
  }

  @Test func `the status shows why no acts arrive`() {
    var session = Self.session()
    session.setControllerProblem("no requests", at: Self.now)
    #expect(session.takeEffects() == [.status(SourceStatus(.live, reason: "no requests"))])
    session.setControllerProblem(nil, at: Self.now)
    #expect(session.takeEffects() == [.status(SourceStatus(.live))])
  }
}
