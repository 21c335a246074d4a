import ChatFeature
import Composable
import ComposableTesting
import ControlFeature
import EncoderStatsFeature
import HeaderFeature
import HostFeature
import LiveEvents
import PollFeature
import RateLimiting
import RecorderFeature
import Testing
import WaitingRoomFeature

@Suite struct HostStoryTests {
  private let ann = Person(id: "u1", name: "Ann")
  private let bob = Person(id: "u2", name: "Bob")

  @Test func `a host runs a recorded stream from the waiting room to the end`() async {
    let store = TestStore(initialState: HostFeature.State()) { HostFeature() }
    store.exhaustivity = .off

    // People wait, and a countdown runs.
    await store.send(.stream(.waiting, at: 1_000)) { $0.phase = .waiting }
    await store.send(.waitingRoom(.changed([.joined(ann), .joined(bob)])))
    await store.send(.waitingRoom(.scheduled(6_000, at: 1_000)))
    await store.send(.ticked(at: 2_000)) { $0.waitingRoom?.secondsLeft = 4 }
    await store.send(.waitingRoom(.admitAllTapped)) { $0.waitingRoom?.admitted = 2 }
    await store.receive(.waitingRoom(.delegate(.admitted([ann, bob]))))

    // The host prepares the stream, and goes live.
    await store.send(.control(.sliderReleased(control: "microphone", value: 0.8)))
    await store.receive(.control(.delegate(.committed(control: "microphone", value: 0.8))))
    await store.send(.stream(.live, at: 6_000)) {
      $0.phase = .live
      $0.waitingRoom = nil
      $0.header.phase = .live
    }

    // The stream is recorded and watched, and people chat.
    await store.send(.recorder(.own(.restarted(isRecording: true))))
    await store.receive(.recorder(.delegate(.isRecordingChanged(true)))) { $0.isRecording = true }
    await store.send(.header(.viewersChanged(count: 70, peak: 90)))
    await store.send(.header(.reacted(12)))
    await store.send(.chat(.messages([message]))) { $0.chat?.total = 1 }

    // The connection is bad for a while.
    let bad = StatisticsWindow(congestion: Summary(0.9), samples: 1)
    await store.send(.liveRoomStats(.windowClosed(bad)))
    await store.receive(.liveRoomStats(.delegate(.qualityChanged(.poor)))) {
      $0.quality = .poor
      $0.header.connection = .poor
    }
    await store.send(.stream(.paused, at: 8_000)) { $0.phase = .paused }
    await store.send(.stream(.live, at: 9_000)) { $0.phase = .live }
    await store.send(.ticked(at: 10_000)) { $0.header.durationMilliseconds = 4_000 }

    // The host ends the stream after cancelling once.
    await store.send(.control(.tapped(control: ControlFeature.endStream, on: nil)))
    await store.receive(.control(.delegate(.endStreamTapped(on: nil)))) {
      $0.endConfirmation = EndConfirmation.State(viewers: 70)
    }
    await store.send(.endConfirmation(.presented(.cancelTapped)))
    await store.receive(.endConfirmation(.dismiss)) { $0.endConfirmation = nil }
    #expect(store.state.phase == .live)
    await store.send(.control(.tapped(control: ControlFeature.endStream, on: nil)))
    await store.receive(.control(.delegate(.endStreamTapped(on: nil))))
    await store.send(.endConfirmation(.presented(.confirmTapped)))
    await store.receive(.endConfirmation(.presented(.delegate(.confirmed)))) {
      $0.phase = .ended
      $0.endConfirmation = nil
      $0.liveRoomStats = nil
      $0.quality = nil
      $0.header.connection = nil
      $0.header.phase = .ended
    }
    #expect(store.state.header.durationMilliseconds == 4_000)

    // The recording is written to disk.
    for percent in stride(from: 50, through: 100, by: 50) {
      let progress = RecorderProgress(
        bytes: percent * 10, durationMilliseconds: 4_000, done: percent, total: 100)
      await store.send(.recorder(.ownProgressed(progress)))
      #expect(store.state.recorder.own?.percent == percent)
    }
    await store.send(.recorder(.own(.restarted(isRecording: false))))
    await store.receive(.recorder(.delegate(.isRecordingChanged(false)))) { $0.isRecording = false }
    #expect(store.state.recorder.own?.bytes == 1_000)

    await store.send(.roomClosed) { $0.chat = nil }
    await store.finish()
  }

  @Test
  func `a second tap on end confirms the end; only a running stream asks for confirmation`()
    async
  {
    let store = TestStore(initialState: HostFeature.State()) { HostFeature() }
    store.exhaustivity = .off
    func tap(_ on: Bool?) async {
      await store.send(.control(.tapped(control: ControlFeature.endStream, on: on)))
      await store.skipReceivedActions(strict: false)
      await store.skipReceivedActions(strict: false)
      await store.skipReceivedActions(strict: false)
    }
    await store.send(.stream(.live, at: 0))
    await tap(false)
    #expect(store.state.endConfirmation == nil)
    // The first tap that would end the stream only asks the question.
    await tap(true)
    #expect(store.state.endConfirmation != nil)
    await tap(false)
    #expect(store.state.endConfirmation == nil)
    #expect(store.state.phase == .live)
    await tap(nil)
    await tap(true)
    #expect(store.state.phase == .ended)
    await tap(true)
    #expect(store.state.endConfirmation == nil)
    await store.finish()
  }

  @Test func `if the platform ends the stream, an open question is closed`() async {
    let store = TestStore(initialState: HostFeature.State()) { HostFeature() }
    store.exhaustivity = .off
    await store.send(.stream(.live, at: 0))
    await store.send(.control(.tapped(control: ControlFeature.endStream, on: nil)))
    await store.skipReceivedActions()
    await store.send(.stream(.ended, at: 5_000)) { $0.endConfirmation = nil }
    await store.finish()
  }

  @Test func `ticks are requested while a drag may have lost its end or a countdown is running`() {
    var state = HostFeature.State()
    #expect(!state.wantsTicks)
    _ = ControlFeature().reduce(
      into: &state.control, action: .sliderBegan(control: "zoom", value: 0.1))
    #expect(state.wantsTicks)
    state.control = ControlFeature.State()
    state.waitingRoom = WaitingRoomFeature.State()
    #expect(!state.wantsTicks)
    state.waitingRoom?.startsAt = 5
    #expect(state.wantsTicks)
    state.waitingRoom?.secondsLeft = 0
    #expect(!state.wantsTicks, "the countdown is over")
    state.poll = PollFeature.State()
    state.poll?.isOpen = true
    #expect(!state.wantsTicks)
    state.poll?.endsAt = 5
    #expect(state.wantsTicks)
  }

  private var message: TimedMessage {
    TimedMessage(
      timestamp: 6_500, message: ChatMessage(id: "m", userID: "u1", userName: "Ann", text: "hi"))
  }
}
