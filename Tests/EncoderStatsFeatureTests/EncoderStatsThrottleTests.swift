import EncoderStatsFeature
import LiveEvents
import RateLimiting
import Testing
import Throttling

@Suite struct EncoderStatsThrottleTests {
  private typealias Output = ThrottleOutput<EncoderStatsFeature.Action>

  @Test func `a window of statistics summarises its samples without losing a peak`() throws {
    var throttle = EncoderStatsThrottle()
    var output = Output()
    let rates: [Double] = [30, 60, 3, 59, 57]
    for (index, rate) in rates.enumerated() {
      let sample = StreamStatistics(framesPerSecond: rate, droppedFrames: index)
      throttle.receive(
        sample, timestamp: 0, at: Instant(nanoseconds: Int64(index) * 100_000_000), into: &output)
    }
    #expect(output.actions.isEmpty)
    #expect(throttle.pending == 5)
    let due = Instant.origin + .seconds(1)
    #expect(throttle.deadline == due)
    throttle.wake(at: due, into: &output)
    #expect(output.applied == 5)
    #expect(throttle.pending == 0)
    let window = try #require(onlyWindow(of: output.actions))
    let rate = try #require(window.frameRate)
    #expect(rate.last == 57)
    #expect(rate.minimum == 3)
    #expect(rate.maximum == 60)
    #expect(rate.mean == 41.8)
    #expect(rate.count == 5)
    #expect(window.droppedFrames?.last == 4)
    #expect(window.bitrate == nil)
    #expect(window.samples == 5)
  }

  @Test func `each kind of measurement is summarised separately`() throws {
    var throttle = EncoderStatsThrottle()
    var output = Output()
    let sample = StreamStatistics(
      bitrateKbps: 1, framesPerSecond: 2, droppedFrames: 3, roundTripMilliseconds: 4, congestion: 5)
    throttle.receive(sample, timestamp: 0, at: .origin, into: &output)
    throttle.flush(at: .origin, into: &output)
    #expect(
      onlyWindow(of: output.actions)
        == StatisticsWindow(
          bitrate: Summary(1), frameRate: Summary(2), droppedFrames: Summary(3),
          roundTrip: Summary(4), congestion: Summary(5), samples: 1))
  }

  @Test func `the next sample closes an overdue window of statistics`() {
    var throttle = EncoderStatsThrottle()
    var output = Output()
    throttle.receive(StreamStatistics(bitrateKbps: 1), timestamp: 0, at: .origin, into: &output)
    let late = Instant.origin + .seconds(3)
    throttle.receive(StreamStatistics(bitrateKbps: 2), timestamp: 0, at: late, into: &output)
    #expect(onlyWindow(of: output.actions)?.bitrate == Summary(1))
    #expect(throttle.pending == 1)
    #expect(throttle.deadline == late + .seconds(1))
  }

  private func onlyWindow(of actions: [EncoderStatsFeature.Action]) -> StatisticsWindow? {
    guard actions.count == 1, case .windowClosed(let window, _) = actions[0] else { return nil }
    return window
  }
}
