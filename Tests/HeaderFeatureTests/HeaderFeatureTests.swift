import HeaderFeature
import LiveEvents
import Testing

@Suite struct HeaderFeatureTests {
  private func state(after actions: HeaderFeature.Action...) -> HeaderFeature.State {
    var state = HeaderFeature.State()
    for action in actions { _ = HeaderFeature().reduce(into: &state, action: action) }
    return state
  }

  @Test func `the highest viewer count is the peak even if it was never shown`() {
    let state = state(
      after: .viewersChanged(count: 10, peak: 80), .viewersChanged(count: 50, peak: 50))
    #expect(state.viewers == 50)
    #expect(state.peakViewers == 80)
  }

  @Test func `counts of reactions are added up, and stop at the largest count that can be saved`() {
    #expect(state(after: .reacted(50), .reacted(7)).likes == 57)
    let largest = EventLimits.total.upperBound
    #expect(state(after: .reacted(largest), .reacted(1)).likes == largest)
    #expect(state(after: .reacted(.max), .reacted(1)).likes == largest)
  }

  @Test func `the duration of a stream counts from going live to its end`() {
    let live: [HeaderFeature.Action] = [
      .ticked(at: 500), .streamChanged(.waiting, at: 900), .streamChanged(.live, at: 1_000),
      .ticked(at: 3_000), .streamChanged(.paused, at: 4_000), .ticked(at: 5_000),
      .streamChanged(.live, at: 6_000), .streamChanged(.ended, at: 9_500), .ticked(at: 12_000),
    ]
    let expected: [Int64] = [0, 0, 0, 2_000, 3_000, 4_000, 5_000, 8_500, 8_500]
    var state = HeaderFeature.State()
    for (action, duration) in zip(live, expected) {
      _ = HeaderFeature().reduce(into: &state, action: action)
      #expect(state.durationMilliseconds == duration, "after \(action)")
    }
    #expect(state.liveSince == 1_000)
    #expect(state.phase == .ended)
  }

  @Test func `a stream that goes live again starts with a duration of zero`() {
    let state = state(
      after: .streamChanged(.live, at: 1_000), .streamChanged(.ended, at: 5_000),
      .streamChanged(.live, at: 60_000), .ticked(at: 61_000))
    #expect(state.liveSince == 60_000)
    #expect(state.durationMilliseconds == 1_000)
  }

  @Test func `the duration of a stream never decreases`() {
    let state = state(
      after: .streamChanged(.live, at: 1_000), .ticked(at: 5_000), .ticked(at: 4_000),
      .streamChanged(.paused, at: .min))
    #expect(state.durationMilliseconds == 4_000)
  }

  @Test func `a tick with a correct time corrects the duration after a tick far in the future`() {
    let state = state(
      after: .streamChanged(.live, at: 1_000), .ticked(at: 4_102_444_800_000), .ticked(at: 5_000))
    #expect(state.durationMilliseconds == 4_000)
    #expect(self.state(after: .streamChanged(.live, at: .min), .ticked(at: .max)).isRunning)
  }

  @Test func `the newest title of the stream is shown`() {
    #expect(state(after: .titleChanged("One"), .titleChanged("Two")).title == "Two")
  }
}
