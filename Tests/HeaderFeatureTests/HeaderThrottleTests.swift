import HeaderFeature
import LiveEvents
import RateLimiting
import TestSupport
import Testing
import Throttling

@Suite struct HeaderThrottleTests {
  private typealias Output = ThrottleOutput<HeaderFeature.Action>

  @Test func `the first viewer count passes the throttle immediately, and the last always arrives`()
  {
    var throttle = HeaderThrottle()
    var output = Output()
    for count in [5, 90, 7] {
      throttle.receive(.viewers(count: count), timestamp: 0, at: .origin, into: &output)
    }
    #expect(output.actions == [.viewersChanged(count: 5, peak: 5)])
    #expect(throttle.pending == 1)
    throttle.wake(at: .origin + .milliseconds(200), into: &output)
    #expect(output.actions.last == .viewersChanged(count: 7, peak: 90))
    #expect(output.applied == 2)
    #expect(output.coalesced == 1)
    // Each peak counts once.
    throttle.receive(.viewers(count: 3), timestamp: 0, at: .origin + .seconds(1), into: &output)
    #expect(output.actions.last == .viewersChanged(count: 3, peak: 3))
  }

  @Test func `a viewer count that is delivered by frames is at most a quarter of a second old`() {
    var throttle = HeaderThrottle()
    let frame = Interval.nanoseconds(16_666_667)
    var frameAt = Instant.origin
    var heldSince: Instant?
    for step in 0..<3_000 {
      let now = Instant.origin + .milliseconds(Int64(step))
      var output = Output()
      while frameAt <= now {
        throttle.wake(at: frameAt, into: &output)
        if !output.actions.isEmpty, let since = heldSince {
          #expect(frameAt - since <= .milliseconds(250))
        }
        if throttle.pending == 0 { heldSince = nil }
        frameAt = frameAt + frame
      }
      throttle.receive(.viewers(count: step), timestamp: 0, at: now, into: &output)
      if throttle.pending == 0 { heldSince = nil } else if heldSince == nil { heldSince = now }
    }
  }

  @Test func `reactions of all kinds are delivered as one sum per frame`() {
    var throttle = HeaderThrottle(
      ThrottlePolicies([.reactions: .init(interval: .milliseconds(16))]))
    var output = Output()
    for (kind, count) in [("heart", 50), ("clap", 1), ("heart", 2)] {
      throttle.receive(
        .reaction(kind: Text(kind), count: count), timestamp: 0, at: .origin, into: &output)
    }
    #expect(output.actions.isEmpty)
    #expect(throttle.deadline == .origin + .milliseconds(16))
    throttle.wake(at: .origin + .milliseconds(16), into: &output)
    #expect(output.actions == [.reacted(53)])
    #expect(output.applied == 3)
  }

  @Test func `a new title passes the throttle immediately, after all held events`() {
    var throttle = HeaderThrottle()
    var output = Output()
    throttle.receive(.viewers(count: 1), timestamp: 0, at: .origin, into: &output)
    throttle.receive(.viewers(count: 2), timestamp: 0, at: .origin, into: &output)
    throttle.receive(.reaction(kind: "heart", count: 9), timestamp: 0, at: .origin, into: &output)
    throttle.receive(.title("Hello"), timestamp: 0, at: .origin, into: &output)
    #expect(
      output.actions == [
        .viewersChanged(count: 1, peak: 1), .viewersChanged(count: 2, peak: 2), .reacted(9),
        .titleChanged("Hello"),
      ])
    #expect(output.applied == 4)
    #expect(throttle.pending == 0)
    #expect(throttle.deadline == nil)
  }

  @Test func `a viewer count of one source never replaces that of another`() {
    var throttle = HeaderThrottle()
    var output = Output()
    let (kick, twitch) = (Origin(platform: "kick"), Origin(platform: "twitch"))
    for (count, origin) in [(1, kick), (10, twitch), (2, kick), (90, twitch), (20, twitch)] {
      throttle.origin = origin
      throttle.receive(.viewers(count: count), timestamp: 0, at: .origin, into: &output)
    }
    let first: [HeaderFeature.Action] = [
      .viewersChanged(count: 1, peak: 1, from: kick),
      .viewersChanged(count: 10, peak: 10, from: twitch),
    ]
    #expect(output.actions == first)
    #expect(throttle.pending == 2)
    #expect(throttle.deadline == .origin + .milliseconds(200))
    throttle.wake(at: .origin + .milliseconds(200), into: &output)
    #expect(
      output.actions == first + [
        .viewersChanged(count: 2, peak: 2, from: kick),
        .viewersChanged(count: 20, peak: 90, from: twitch),
      ])
    #expect(output.applied == 4 && output.coalesced == 1 && throttle.pending == 0)
  }

  @Test func `the viewer counts of more than 16 sources that are held all pass immediately`() {
    var throttle = HeaderThrottle()
    var output = Output()
    for _ in 1...3 {
      for number in 0..<20 {
        throttle.origin = Origin(platform: "many", source: Text("s\(number)"))
        throttle.receive(.viewers(count: number), timestamp: 0, at: .origin, into: &output)
      }
    }
    #expect(throttle.pending == 16)
    #expect(output.applied + output.coalesced + throttle.pending == 60)
    throttle.flush(at: .origin, into: &output)
    #expect(output.applied + output.coalesced == 60)
  }

  @Test(arguments: 1...20) func `no event of the header is lost`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var throttle = HeaderThrottle()
    var output = Output()
    var state = HeaderFeature.State()
    var now = Instant.origin
    var likes = 0
    var peak = 0
    var last = 0
    for received in 1...5_000 {
      now = now + .microseconds(Int64.random(in: 0..<20_000, using: &random))
      switch Int.random(in: 0..<20, using: &random) {
      case 0: throttle.receive(.title(Text("t\(received)")), timestamp: 0, at: now, into: &output)
      case 1..<8:
        last = Int.random(in: 0..<100_000, using: &random)
        peak = max(peak, last)
        throttle.receive(.viewers(count: last), timestamp: 0, at: now, into: &output)
      default:
        let count = Int.random(in: 1..<100, using: &random)
        likes += count
        throttle.receive(
          .reaction(kind: "heart", count: count), timestamp: 0, at: now, into: &output)
      }
      if Int.random(in: 0..<3, using: &random) == 0 { throttle.wake(at: now, into: &output) }
      #expect(output.applied + output.coalesced + throttle.pending == received)
    }
    throttle.flush(at: now, into: &output)
    for action in output.actions { _ = HeaderFeature().reduce(into: &state, action: action) }
    #expect(state.likes == likes)
    #expect(state.peakViewers == peak)
    #expect(state.viewers == last)
  }
}
