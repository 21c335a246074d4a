import JSON
import LiveEvents
import LiveSources
import RateLimiting
import SocialStream
import TestSupport
import Testing

struct SocialStreamSessionTests {
  private static func live(_ reason: String, notShown: Int) -> SourceStatus {
    var status = SourceStatus(.live, reason: reason)
    status.notShown = notShown
    return status
  }

  private static func seconds(_ count: Int64) -> Instant { .origin + .seconds(count) }

  private static func session() -> SocialStreamSession {
    var session = SocialStreamSession(
      run: "run", generator: SplitMix64(seed: 1), at: .origin)
    session.wake(at: .origin)
    #expect(session.takeEffects() == [.status(SourceStatus(.connecting)), .connect(1)])
    session.opened(1, at: seconds(1))
    #expect(session.takeEffects() == [.status(SourceStatus(.live))])
    return session
  }

  private static func message(_ id: Int64?, _ text: String) -> JSONValue {
    var members: [JSONName: JSONValue] = ["chatname": "Ada", "chatmessage": .string(text)]
    if let id { members["id"] = .integer(id) }
    return .object(members)
  }

  @Test func `a repeated message is delivered once, and a reused number gives another identifier`()
  {
    var session = Self.session()
    for (id, text) in [(1, "a"), (1, "a"), (2, "b"), (1, "c")] as [(Int64, String)] {
      session.receive(Self.message(id, text), on: 1, at: Self.seconds(2), time: 1000)
    }
    session.receive(Self.message(nil, "d"), on: 1, at: Self.seconds(2), time: 1000)
    session.receive(Self.message(nil, "d"), on: 1, at: Self.seconds(2), time: 1000)
    #expect(session.forwarded == 5)
    #expect(session.duplicates == 1)
    let lines = session.takeEffects().flatMap { effect -> [String] in
      guard case .deliver(let bytes, _) = effect else { return [] }
      return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
    #expect(Set(lines.map { $0.replacing("chat.message", with: "") }).count == 5)
  }

  @Test func `the status names unknown kinds of messages, at most every ten seconds`() throws {
    var session = Self.session()
    func receive(_ text: String, at second: Int64) throws {
      session.receive(
        try JSONValue(parsing: text), on: 1, at: Self.seconds(second), time: 1000)
    }
    try receive(#"{"type":"kick","chatname":"Ada","event":"something_new"}"#, at: 2)
    #expect(
      session.takeEffects() == [
        .status(Self.live("not shown: 1 something_new", notShown: 1))
      ])
    try receive(#"{"type":"kick","chatname":"Ada","event":"something_new","userid":{}}"#, at: 3)
    #expect(session.takeEffects().isEmpty)
    #expect(session.deadline == Self.seconds(12))
    session.wake(at: Self.seconds(12))
    #expect(
      session.takeEffects() == [
        .status(
          Self.live("not shown: 2 something_new; unusable values ignored: 1 userid", notShown: 2)
        )
      ])
  }

  @Test func `a silent server is sent a ping, and an outage is reported as a gap`() {
    var session = Self.session()
    session.wake(at: Self.seconds(31))
    #expect(session.takeEffects() == [.ping(1)])
    session.heard(1, at: Self.seconds(32))
    session.wake(at: Self.seconds(62))
    #expect(session.takeEffects() == [.ping(1)])
    session.wake(at: Self.seconds(72))
    #expect(
      session.takeEffects() == [
        .close(1), .status(SourceStatus(.connecting, reason: "no sign of life")),
      ])
    session.wake(at: Self.seconds(72))
    #expect(session.takeEffects() == [.connect(2)])
    session.opened(2, at: Self.seconds(73))
    #expect(
      session.takeEffects() == [
        .gap(from: Self.seconds(32), to: Self.seconds(73), reason: "no sign of life"),
        .status(SourceStatus(.live)),
      ])
  }

  @Test func `messages of a connection that was given up are ignored`() {
    var session = Self.session()
    session.closed(1, reason: "gone", at: Self.seconds(2))
    session.receive(Self.message(1, "late"), on: 1, at: Self.seconds(2), time: 1000)
    #expect(session.forwarded == 0)
  }

  @Test func `failed connections are retried after growing pauses`() {
    var session = SocialStreamSession(run: "run", generator: SplitMix64(seed: 1), at: .origin)
    var now = Instant.origin
    var waits: [Interval] = []
    for id in 1...12 {
      session.wake(at: now)
      session.closed(id, reason: "refused", at: now)
      let next = session.deadline ?? now
      waits.append(next - now)
      now = next
    }
    #expect(waits.first == .zero)
    #expect(waits.allSatisfy { $0 <= .seconds(128) })
    #expect(waits.max() ?? .zero > .seconds(8))
  }

  @Test func `a source that does not read does not consider its server lost`() {
    var session = Self.session()
    session.pause(true, at: Self.seconds(2))
    #expect(session.deadline == nil)
    session.pause(false, at: Self.seconds(500))
    #expect(session.deadline == Self.seconds(530))
  }
}
