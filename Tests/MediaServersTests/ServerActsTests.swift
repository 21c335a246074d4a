import LiveEvents
import LiveSources
import MediaServers
import RateLimiting
import TestSupport
import Testing

/// Tests how a session on virtual time schedules acts.
struct ServerActsTests {
  private static let now = Instant.origin + .seconds(1)

  private static func request(_ number: Int, _ kind: ActKind = .say) throws -> ActRequest {
    ActRequest(identifier: "main/\(number)", act: try PlatformAct(kind, text: "hi"))
  }

  private static func session(acts: [ActKind] = [.say]) -> ServerSession {
    var session = ServerSession(
      stream: nil, acts: acts, generator: SplitMix64(seed: 3), at: .origin)
    _ = session.takeEffects()
    return session
  }

  @Test func `an act is sent once, and its outcome is reported`() throws {
    var session = Self.session()
    let request = try Self.request(1)
    session.carryOut(request, at: Self.now)
    #expect(session.takeEffects() == [.carryOut(request)])
    session.wake(at: Self.now)
    #expect(session.takeEffects() == [.ask(1)])
    session.carriedOut("main/1", .unknown("the request timed out"))
    #expect(
      session.takeEffects() == [
        .outcome(
          request: "main/1", .refused(reason: "the outcome is unknown: the request timed out"))
      ])
    session.failed(1, "gone", at: Self.now)
    _ = session.takeEffects()
    session.wake(at: Self.now + .seconds(10))
    #expect(session.takeEffects() == [.ask(2)])
  }

  @Test func `an act that the configuration does not allow is refused`() throws {
    var session = Self.session()
    session.carryOut(try Self.request(1, .setTitle), at: Self.now)
    #expect(
      session.takeEffects() == [
        .outcome(request: "main/1", .refused(reason: "the server cannot carry out this act"))
      ])
  }

  @Test func `four acts are in flight, others wait, and too many are refused`() throws {
    var session = Self.session()
    let requests = try (1...33).map { try Self.request($0) }
    for request in requests { session.carryOut(request, at: Self.now) }
    let sent = requests.prefix(4).map { ServerSession.Effect.carryOut($0) }
    #expect(
      session.takeEffects() == sent + [
        .outcome(request: "main/33", .refused(reason: "the server answers too slowly"))
      ])
    session.withdraw("main/5")
    session.carriedOut("main/2", .confirmed)
    #expect(
      session.takeEffects() == [
        .outcome(request: "main/2", .confirmed), .carryOut(requests[5]),
      ])
  }

  @Test func `the outcome of an act that was withdrawn in flight is not reported`() throws {
    var session = Self.session()
    session.carryOut(try Self.request(1), at: Self.now)
    _ = session.takeEffects()
    session.withdraw("main/1")
    session.carriedOut("main/1", .confirmed)
    #expect(session.takeEffects().isEmpty)
  }

  @Test func `the status shows why no acts arrive`() {
    var session = Self.session()
    session.wake(at: Self.now)
    session.answered(1, ServerAnswer([]), at: Self.now)
    _ = session.takeEffects()
    session.setControllerProblem("no requests", at: Self.now)
    #expect(session.takeEffects() == [.status(SourceStatus(.live, reason: "no requests"))])
    session.setControllerProblem(nil, at: Self.now)
    #expect(session.takeEffects() == [.status(SourceStatus(.live))])
  }
}
