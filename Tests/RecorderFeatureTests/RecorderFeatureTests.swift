import Composable
import LiveEvents
import RecorderFeature
import Testing

@Suite struct RecorderFeatureTests {
  @Test func `an external recording is followed from start to failure`() {
    var state = RecorderFeature.State()
    #expect(reduce(&state, .stateChanged(.starting)).isNone)
    #expect(!reduce(&state, .stateChanged(.recording)).isNone)
    let progress = RecorderProgress(bytes: 512, durationMilliseconds: 40, done: 1, total: 3)
    #expect(reduce(&state, .progressed(progress)).isNone)
    #expect(state.elsewhere.bytes == 512)
    #expect(state.elsewhere.durationMilliseconds == 40)
    #expect(state.elsewhere.percent == 33)
    #expect(reduce(&state, .stateChanged(.paused)).isNone)
    #expect(!reduce(&state, .stateChanged(.failed)).isNone)
    #expect(state.elsewhere.bytes == 512)
    #expect(state.own == nil)
  }

  @Test func `a new recording starts with zero written bytes`() {
    var state = RecorderFeature.State()
    _ = reduce(&state, .progressed(RecorderProgress(bytes: 9, durationMilliseconds: 9)))
    _ = reduce(&state, .stateChanged(.starting))
    #expect(state.elsewhere.bytes == 0)
    #expect(state.elsewhere.state == .starting)
  }

  @Test func `the room's own recording is distinguished from an external one`() {
    var state = RecorderFeature.State()
    _ = reduce(&state, .stateChanged(.recording))
    // The room is already being recorded, so the parent is not notified.
    #expect(reduce(&state, .own(.restarted(isRecording: true))).isNone)
    _ = reduce(&state, .ownProgressed(RecorderProgress(bytes: 7, durationMilliseconds: 1)))
    #expect(state.own?.bytes == 7)
    #expect(state.elsewhere.bytes == 0)
    #expect(reduce(&state, .stateChanged(.idle)).isNone)
    #expect(state.isRecording)
    #expect(!reduce(&state, .own(.restarted(isRecording: false))).isNone)
    #expect(!state.isRecording)
  }

  @Test func `progress of the room's recording is ignored while the room is not being recorded`() {
    var state = RecorderFeature.State()
    _ = reduce(&state, .ownProgressed(RecorderProgress(bytes: 7, durationMilliseconds: 1)))
    #expect(state == RecorderFeature.State())
  }

  @Test(arguments: [
    (0, 0, 100), (0, 7, 0), (6, 7, 85), (7, 7, 100), (Int.max, .max, 100), (.max / 2, .max, 49),
  ])
  func `the percentage of a recording's progress is a whole number`(
    done: Int, total: Int, percent: Int
  ) {
    #expect(recording(done, total).percent == percent)
  }

  @Test(arguments: [(8, 7), (-1, 7), (nil, 7), (3, nil), (-3, -2)] as [(Int?, Int?)])
  func `the percentage of a recording's progress is unknown if its numbers are invalid`(
    done: Int?, total: Int?
  ) {
    #expect(recording(done, total).percent == nil)
  }

  private func recording(_ done: Int?, _ total: Int?) -> RecorderActivity {
    var recording = RecorderActivity()
    recording.done = done
    recording.total = total
    return recording
  }

  private func reduce(
    _ state: inout RecorderFeature.State, _ action: RecorderFeature.Action
  ) -> Effect<RecorderFeature.Action> {
    RecorderFeature().reduce(into: &state, action: action)
  }
}
