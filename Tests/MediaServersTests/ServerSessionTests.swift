import LiveEvents
import LiveSources
import MediaServers
import RateLimiting
import TestSupport
import Testing

struct ServerSessionTests {
  /// A session and the server that it polls, on virtual time.
  private struct Watched {
    var session: ServerSession
    var now = Instant.origin
    var effects: [ServerSession.Effect] = []
    /// The streams of the server, or `nil` if the server is unreachable.
    var streams: [ServedStream]? = []
    /// The streams of each worker, if the server has several. The workers answer alternately.
    var workers: [(pid: String, streams: [ServedStream])] = []
    /// The members with unusable values in each answer.
    var unusable: [String] = []
    var attempts: [Instant] = []

    init(stream: String? = nil) {
      session = ServerSession(stream: stream, generator: SplitMix64(seed: 3), at: .origin)
      settle()
    }

    mutating func settle() {
      for effect in session.takeEffects() {
        guard case .ask(let attempt) = effect else {
          effects.append(effect)
          continue
        }
        attempts.append(now)
        if !workers.isEmpty {
          let worker = workers[attempts.count % workers.count]
          session.answered(attempt, ServerAnswer(worker.streams, worker: worker.pid), at: now)
        } else if let streams {
          session.answered(attempt, ServerAnswer(streams, unusable: unusable), at: now)
        } else {
          session.failed(attempt, "connection refused", at: now)
        }
        settle()
      }
    }

    mutating func run(for interval: Interval) {
      let end = now + interval
      while let deadline = session.deadline, deadline <= end {
        now = max(now, deadline)
        session.wake(at: now)
        settle()
      }
      now = end
    }

    var states: [StreamState] {
      effects.compactMap { if case .stream(let state, _) = $0 { state } else { nil } }
    }

    var rates: [Double] {
      effects.compactMap {
        if case .statistics(let statistics, _) = $0 { statistics.bitrateKbps } else { nil }
      }
    }
  }

  private static func live(_ bytes: Int, viewers: Int = 0, name: String = "live/a") -> ServedStream
  {
    ServedStream(name: name, isLive: true, bytes: bytes, viewers: viewers)
  }

  @Test func `unusable values in statistics are counted and reported every ten seconds`() {
    var watched = Watched()
    watched.unusable = ["bw_in"]
    watched.run(for: .seconds(25))
    let reasons = watched.effects.compactMap { effect -> String? in
      if case .status(let status) = effect { status.reason } else { nil }
    }
    #expect(
      reasons == [1, 11, 21].map { "unusable values ignored: \($0) bw_in" }
        || reasons == [2, 12, 22].map { "unusable values ignored: \($0) bw_in" }, "\(reasons)")
  }

  @Test func `a stream starts and ends as the server reports it, with bit rate and viewers`() {
    var watched = Watched()
    watched.run(for: .milliseconds(500))
    for second in 0..<3 {
      watched.streams = [Self.live(125_000 * second, viewers: 2)]
      watched.run(for: .seconds(1))
    }
    watched.streams = [ServedStream(name: "live/a", isLive: false)]
    watched.run(for: .seconds(2))
    #expect(watched.states == [.waiting, .live, .ended])
    #expect(watched.rates == [1_000, 1_000])
    let viewers = watched.effects.filter { if case .viewers = $0 { true } else { false } }
    #expect(viewers == [.viewers(2, at: .origin + .seconds(1))])
  }

  @Test func `no bit rate is computed when the byte counter falls`() {
    var watched = Watched()
    for bytes in [500_000, 1_000, 126_000] {
      watched.streams = [Self.live(bytes)]
      watched.run(for: watched.attempts.isEmpty ? .milliseconds(500) : .seconds(1))
    }
    #expect(watched.rates == [1_000])
  }

  @Test func `the requested stream is monitored, or the first live stream if none was requested`() {
    var named = Watched(stream: "live/b")
    named.streams = [Self.live(1)]
    named.run(for: .seconds(1))
    #expect(named.states == [.waiting])
    named.streams = [Self.live(1), Self.live(1, name: "live/b")]
    named.run(for: .seconds(1))
    #expect(named.states == [.waiting, .live])
    var first = Watched()
    first.streams = [Self.live(1, name: "live/b")]
    first.run(for: .milliseconds(500))
    first.streams = [Self.live(900_000), Self.live(125_001, name: "live/b")]
    first.run(for: .seconds(1))
    #expect(first.rates == [1_000])
  }

  @Test func `an unreachable server is polled again, and the outage is reported as a gap`() {
    var watched = Watched()
    watched.streams = [Self.live(1)]
    watched.run(for: .seconds(6))
    watched.streams = nil
    let lost = watched.now
    watched.run(for: .seconds(30))
    let before = watched.attempts.count
    #expect(before < 25)
    #expect(watched.states == [.live])
    #expect(
      watched.effects.contains(
        .status(SourceStatus(.connecting, reason: "connection refused"))))
    watched.streams = [Self.live(1)]
    watched.run(for: .seconds(130))
    let gaps = watched.effects.compactMap { effect -> Instant? in
      guard case .gap(let from, let to, "connection refused") = effect else { return nil }
      #expect(to > lost)
      return from
    }
    #expect(gaps == [.origin + .seconds(6)])
    #expect(
      watched.effects.last { if case .status = $0 { true } else { false } }
        == .status(SourceStatus(.live, reason: "watching live/a")))
  }

  // MARK: Several workers, several streams

  @Test func `a stream does not end when another nginx worker does not know it`() {
    var watched = Watched()
    var bytes = 0
    for _ in 0..<10 {
      bytes += 250_000
      watched.workers = [("100", [Self.live(bytes, viewers: 2)]), ("101", [])]
      watched.run(for: .seconds(2))
    }
    #expect(watched.states == [.waiting, .live])
    #expect(watched.rates.count >= 8 && watched.rates.allSatisfy { $0 > 900 && $0 < 1_100 })
    // The stream's own worker reports its end.
    watched.workers = [("100", []), ("101", [])]
    watched.run(for: .seconds(3))
    #expect(watched.states == [.waiting, .live, .ended])
  }

  @Test func `a stream ends when its nginx worker has not answered for the time limit`() {
    var watched = Watched()
    watched.workers = [("100", [Self.live(1)])]
    watched.run(for: .seconds(3))
    watched.workers = [("102", []), ("103", [])]
    watched.run(for: .seconds(20))
    #expect(watched.states == [.live])
    watched.run(for: .seconds(30))
    #expect(watched.states == [.live, .ended])
  }

  @Test func `the viewer counts of all nginx workers are added up`() {
    var watched = Watched()
    watched.workers = [
      ("1", [Self.live(1, viewers: 2)]),
      ("2", [ServedStream(name: "live/a", isLive: false, viewers: 3)]),
    ]
    watched.run(for: .seconds(4))
    #expect(
      watched.effects.last { if case .viewers = $0 { true } else { false } }
        == .viewers(5, at: .origin + .seconds(1)))
  }

  @Test func `a bit rate that the server itself reports is used from the first answer on`() {
    var watched = Watched()
    watched.streams = [
      ServedStream(name: "live/a", isLive: true, bytes: 9, bitrateKbps: 800)
    ]
    watched.run(for: .milliseconds(500))
    #expect(watched.rates == [800])
  }

  private static func reasons(_ watched: Watched) -> [String] {
    watched.effects.compactMap { if case .status(let status) = $0 { status.reason } else { nil } }
  }

  @Test func `the status names the monitored stream and other live streams`() {
    var watched = Watched()
    watched.streams = [Self.live(1, name: "live/b"), Self.live(1, name: "live/a")]
    watched.run(for: .seconds(3))
    #expect(
      Self.reasons(watched) == [
        "watching live/a; also live: live/b (server.stream or --stream chooses)"
      ])
    watched.streams = [Self.live(1, name: "live/b")]
    watched.run(for: .seconds(2))
    #expect(Self.reasons(watched).last == "watching live/b")
    var named = Watched(stream: "b")
    named.streams = [Self.live(1, name: "live/a")]
    named.run(for: .seconds(2))
    #expect(Self.reasons(named) == ["b is not live; also live: live/a"])
    named.streams = [Self.live(1, name: "live/a"), Self.live(1, name: "live/b")]
    named.run(for: .seconds(2))
    #expect(Self.reasons(named).last == "watching live/b; also live: live/a")
    #expect(named.states == [.waiting, .live])
  }

  @Test func `a paused source does not poll the server`() {
    var watched = Watched()
    watched.run(for: .seconds(3))
    watched.session.pause(true, at: watched.now)
    let asked = watched.attempts.count
    watched.run(for: .seconds(60))
    #expect(watched.attempts.count == asked)
    watched.session.pause(false, at: watched.now)
    watched.run(for: .seconds(2))
    #expect(watched.attempts.count > asked)
  }

  @Test func `late answers to earlier requests of statistics are ignored`() {
    var session = ServerSession(stream: nil, generator: SplitMix64(seed: 1), at: .origin)
    session.wake(at: .origin)
    session.answered(1, ServerAnswer([]), at: .origin)
    _ = session.takeEffects()
    session.answered(1, ServerAnswer([Self.live(1)]), at: .origin)
    session.failed(1, "late", at: .origin)
    #expect(session.takeEffects().isEmpty)
  }
}
