package import ChatFeature
package import Composable
package import ControlFeature
package import HeaderFeature
package import LiveEvents
package import LiveRoomStatsFeature
package import RecorderFeature
package import WaitingRoomFeature

/// The host's screen: the phase of the stream, and six children.
///
/// The optional children appear with the first action that is theirs. `waitingRoom` goes when the
/// stream goes live, `liveRoomStats` when it ends, `chat` when the room closes; their effects end with
/// them.
@Reducer
package struct HostFeature {
  /// Children are kept out of what the host's observers are told: a message in the chat is no
  /// reason to evaluate the host's view.
  @ObservableState
  package struct State: Equatable, Sendable {
    package var phase: StreamState = StreamState.waiting
    /// Whether anybody records the room, as the recorder told.
    package var isRecording = false
    /// How well the stream gets through, as its statistics told; `nil` without them.
    package var quality: StreamQuality?

    @ObservationStateIgnored package var chat: ChatFeature.State?
    @ObservationStateIgnored package var control = ControlFeature.State()
    @ObservationStateIgnored package var header = HeaderFeature.State()
    @ObservationStateIgnored package var liveRoomStats: LiveRoomStatsFeature.State?
    @ObservationStateIgnored package var recorder = RecorderFeature.State()
    @ObservationStateIgnored package var waitingRoom: WaitingRoomFeature.State?

    package init() {}
  }

  package enum Action: Equatable, Sendable {
    case chat(ChatFeature.Action)
    case control(ControlFeature.Action)
    case header(HeaderFeature.Action)
    case liveRoomStats(LiveRoomStatsFeature.Action)
    case recorder(RecorderFeature.Action)
    case waitingRoom(WaitingRoomFeature.Action)
    /// The stream entered a phase, at a time of its source.
    case stream(StreamState, at: Timestamp)
    case roomClosed
    /// Time went on without an event; sent once a second while ``State/wantsTicks``.
    case ticked(at: Timestamp)
  }

  package init() {}

  package var body: ReducerSteps<State, Action> {
    // First, so that a child is there when its first action reaches it: no action of its own is
    // needed to make it, and children still run before their parent.
    Reduce { state, action in
      state.makeChild(for: action)
      return .none
    }
    Scope(state: \.control, action: \.control) { ControlFeature() }
    Scope(state: \.header, action: \.header) { HeaderFeature() }
    Scope(state: \.recorder, action: \.recorder) { RecorderFeature() }
    Reduce { state, action in
      switch action {
      case .stream(let phase, let time):
        return enter(phase, at: time, in: &state)
      case .roomClosed:
        state.removeChildren()
        return .none
      case .ticked(let time):
        return tick(at: time, in: &state)
      case .recorder(.delegate(.isRecordingChanged(let isRecording))):
        state.isRecording = isRecording
        return .none
      case .liveRoomStats(.delegate(.qualityChanged(let quality))):
        state.quality = quality
        return .none
      case .chat, .control, .header, .liveRoomStats, .recorder, .waitingRoom:
        return .none
      }
    }
    .ifLet(\.chat, action: \.chat) { ChatFeature() }
    .ifLet(\.liveRoomStats, action: \.liveRoomStats) { LiveRoomStatsFeature() }
    .ifLet(\.waitingRoom, action: \.waitingRoom) { WaitingRoomFeature() }
  }

  /// The stream entered a phase. The header's logic is run directly: one event stays one action.
  private func enter(
    _ phase: StreamState, at time: Timestamp, in state: inout State
  ) -> Effect<Action> {
    state.phase = phase
    state.removeChildren(for: phase)
    return HeaderFeature().reduce(into: &state.header, action: .streamChanged(phase, at: time))
      .map(Action.header)
  }

  /// The children that show time are run directly: one tick stays one action.
  private func tick(at time: Timestamp, in state: inout State) -> Effect<Action> {
    let effect = HeaderFeature().reduce(into: &state.header, action: .ticked(at: time))
      .map(Action.header)
    guard state.chat != nil else { return effect }
    return .merge(
      effect,
      ChatFeature().reduce(into: &state.chat!, action: .ticked(at: time)).map(Action.chat))
  }
}

extension HostFeature.State {
  /// Whether something shown changes by time alone: the duration of a live stream, the rate of a chat.
  package var wantsTicks: Bool { header.isRunning || (chat?.rate ?? 0) > 0 }
}
