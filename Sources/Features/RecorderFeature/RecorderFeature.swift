package import Composable
package import LiveEvents

/// State and progress of the recorders of a room: the one elsewhere that events tell of, and the
/// room's own.
@Reducer
package struct RecorderFeature {
  @ObservableState
  package struct State: Equatable, Sendable {
    /// The recorder that events tell of (the streaming program's, say).
    package var elsewhere = Recording()
    /// The room's own recording; `nil` until one is started.
    package var own: Recording?

    package init() {}

    /// Whether anybody records this room.
    package var isRecording: Bool { elsewhere.isRecording || own?.isRecording ?? false }
  }

  package enum Action: Equatable, Sendable {
    case stateChanged(RecorderState)
    case progressed(RecorderProgress)
    case ownStateChanged(RecorderState)
    case ownProgressed(RecorderProgress)
    case delegate(Delegate)
  }

  package enum Delegate: Equatable, Sendable {
    /// Whether anybody records this room has changed.
    case isRecordingChanged(Bool)
  }

  package init() {}

  package func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .stateChanged(let new):
      return update(&state) { $0.elsewhere.enter(new) }
    case .progressed(let progress):
      return update(&state) { $0.elsewhere.note(progress) }
    case .ownStateChanged(let new):
      return update(&state) { $0.own = entering(new, $0.own) }
    case .ownProgressed(let progress):
      // Progress without a recording is a late word of one that was taken away.
      return update(&state) { $0.own?.note(progress) }
    case .delegate:
      return .none
    }
  }

  /// What every change shares: the parent is told when the answer to "is anybody recording" turns.
  private func update(_ state: inout State, _ change: (inout State) -> Void) -> Effect<Action> {
    let before = state.isRecording
    change(&state)
    let after = state.isRecording
    return before == after ? .none : .send(.delegate(.isRecordingChanged(after)))
  }

  private func entering(_ new: RecorderState, _ recording: Recording?) -> Recording {
    var recording = recording ?? Recording()
    recording.enter(new)
    return recording
  }
}
