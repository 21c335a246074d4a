package import Composable
package import LiveEvents

/// State and progress of the recorders of a room: the one elsewhere that events tell of, and the
/// room's own.
@Reducer
package struct RecorderFeature {
  @ObservableState
  package struct State: Equatable, Sendable, Codable {
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
      return update(&state) { $0.elsewhere = $0.elsewhere.entering(new) }
    case .progressed(let progress):
      return update(&state) { $0.elsewhere = $0.elsewhere.after(progress) }
    case .ownStateChanged(let new):
      return update(&state) { $0.own = ($0.own ?? Recording()).entering(new) }
    case .ownProgressed(let progress):
      // Progress without a recording is a late word of one that was taken away.
      return update(&state) { $0.own = $0.own?.after(progress) }
    case .delegate:
      return .none
    }
  }

  /// What every change shares: the parent is told when the answer to "is anybody recording" turns.
  /// Recordings are assigned, not mutated in place, so that one that stays equal is told to nobody.
  private func update(_ state: inout State, _ change: (inout State) -> Void) -> Effect<Action> {
    let before = state.isRecording
    change(&state)
    let after = state.isRecording
    return before == after ? .none : .send(.delegate(.isRecordingChanged(after)))
  }
}
