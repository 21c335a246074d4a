import ComposableTesting
import LiveEvents
import RecorderFeature
import Testing

@Suite struct RecorderStoryTests {
  @Test func `the failure of an external recording does not affect the room's own recording`() async
  {
    let store = TestStore(initialState: RecorderFeature.State()) { RecorderFeature() }
    await store.send(.stateChanged(.starting)) { $0.elsewhere.state = .starting }
    await store.send(.stateChanged(.recording)) { $0.elsewhere.state = .recording }
    await store.receive(.delegate(.isRecordingChanged(true)))
    await store.send(.progressed(RecorderProgress(bytes: 900, durationMilliseconds: 2_000))) {
      $0.elsewhere.bytes = 900
      $0.elsewhere.durationMilliseconds = 2_000
    }

    await store.send(.own(.restarted(isRecording: true))) {
      $0.own = RecorderActivity()
      $0.own?.state = .recording
    }
    await store.send(.ownProgressed(RecorderProgress(bytes: 5, durationMilliseconds: 40))) {
      $0.own?.bytes = 5
      $0.own?.durationMilliseconds = 40
    }
    // The external recording fails, and the room is still being recorded.
    await store.send(.stateChanged(.failed)) { $0.elsewhere.state = .failed }
    await store.send(.own(.restarted(isRecording: false))) { $0.own?.state = .idle }
    await store.receive(.delegate(.isRecordingChanged(false)))
    #expect(store.state.own?.bytes == 5, "The size of the recording must stay visible.")
    await store.finish()
  }
}
