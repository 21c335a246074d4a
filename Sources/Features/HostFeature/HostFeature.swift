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
  package struct State: Equatable, Sendable, Codable {
    package var phase: StreamState = StreamState.waiting
    /// Whether anybody records the room, as the recorder told.
    package var isRecording = false
    /// How well the stream gets through, as its statistics told; `nil` without them.
    package var quality: StreamQuality?
    /// The question whether the stream is to end, while it is asked.
    package var endConfirmation: EndConfirmation.State?

    @ObservationStateIgnored package var chat: ChatFeature.State?
    @ObservationStateIgnored package var control = ControlFeature.State()
    @ObservationStateIgnored package var header = HeaderFeature.State()
    @ObservationStateIgnored package var liveRoomStats: LiveRoomStatsFeature.State?
    @ObservationStateIgnored package var recorder = RecorderFeature.State()
    @ObservationStateIgnored package var waitingRoom: WaitingRoomFeature.State?

    /// How many messages a chat keeps that appears from now on.
    @ObservationStateIgnored package var chatHistory: Int

    package init(chatHistory: Int = 500) { self.chatHistory = chatHistory }
  }

  package enum Action: Equatable, Sendable {
    case chat(ChatFeature.Action)
    case control(ControlFeature.Action)
    case header(HeaderFeature.Action)
    case liveRoomStats(LiveRoomStatsFeature.Action)
    case recorder(RecorderFeature.Action)
    case waitingRoom(WaitingRoomFeature.Action)
    case endConfirmation(PresentationAction<EndConfirmation.Action>)
    /// The stream entered a phase, at a time of its source.
    case stream(StreamState, at: Timestamp)
    case roomClosed
    /// A chat that appears from now on keeps so many messages.
    case historyLimited(Int)
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
      case .historyLimited(let count):
        state.chatHistory = count
        return .none
      case .ticked(let time):
        return tick(at: time, in: &state)
      case .recorder(.delegate(.isRecordingChanged(let isRecording))):
        state.isRecording = isRecording
        return .none
      case .liveRoomStats(.delegate(.qualityChanged(let quality))):
        return note(quality, in: &state)
      case .control(.delegate(.endStreamTapped(let on))):
        return confirmEnd(on, in: &state)
      case .endConfirmation(.presented(.delegate(.confirmed))):
        // The host's own time: the newest that the duration knows of.
        return enter(.ended, at: state.header.newestTime, in: &state)
      case .chat, .control, .header, .liveRoomStats, .recorder, .waitingRoom, .endConfirmation:
        return .none
      }
    }
    .ifLet(\.endConfirmation, action: \.endConfirmation) { EndConfirmation() }
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
    return header(.streamChanged(phase, at: time), in: &state)
  }

  /// The statistics judge, the header shows it, too: it knows nothing of them.
  private func note(_ quality: StreamQuality, in state: inout State) -> Effect<Action> {
    state.quality = quality
    let connection: HeaderFeature.Connection =
      switch quality {
      case .good: .good
      case .fair: .fair
      case .poor: .poor
      }
    return header(.connectionChanged(connection), in: &state)
  }

  /// Asks before the stream ends. A tap that says `on` is the answer, if the question stands.
  private func confirmEnd(_ on: Bool?, in state: inout State) -> Effect<Action> {
    guard state.endConfirmation != nil else {
      guard on != false, state.phase != .ended else { return .none }
      state.endConfirmation = EndConfirmation.State(viewers: state.header.viewers)
      return .none
    }
    let answer: EndConfirmation.Action = on == true ? .confirmTapped : .cancelTapped
    return .send(.endConfirmation(.presented(answer)))
  }

  private func header(_ action: HeaderFeature.Action, in state: inout State) -> Effect<Action> {
    HeaderFeature().reduce(into: &state.header, action: action).map(Action.header)
  }

  /// The children that show time are run directly: one tick stays one action.
  private func tick(at time: Timestamp, in state: inout State) -> Effect<Action> {
    var effects = [
      header(.ticked(at: time), in: &state),
      ControlFeature().reduce(into: &state.control, action: .ticked).map(Action.control),
    ]
    if state.chat != nil {
      effects.append(
        ChatFeature().reduce(into: &state.chat!, action: .ticked(at: time)).map(Action.chat))
    }
    if state.waitingRoom != nil {
      effects.append(
        WaitingRoomFeature().reduce(into: &state.waitingRoom!, action: .ticked(at: time))
          .map(Action.waitingRoom))
    }
    return .merge(effects)
  }
}

extension HostFeature.State {
  /// Whether something shown changes by time alone: the duration of a live stream, the rate of a chat,
  /// gifts whose bomb has no parent, a countdown, a drag that may have been forgotten.
  package var wantsTicks: Bool {
    header.isRunning || (chat?.rate ?? 0) > 0 || chat?.notices.isHolding == true
      || waitingRoom?.isCountingDown == true
      || !control.dragging.isEmpty
  }
}
