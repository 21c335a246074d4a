package import Composable
package import LiveEvents

/// State and progress of a room's recorders: the external one that events report on, and the room's
/// own.
@Reducer
package struct RecorderFeature {
  @ObservableState
  package struct State: Equatable, Sendable, Codable {
    /// The recorder that events report on, such as the one of the streaming program.
    package var elsewhere = RecorderActivity()
    /// The room's own recording; `nil` until one is started.
    package var own: RecorderActivity?

    package init() {}

    /// Whether any recorder is recording this room.
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
    /// Whether any recorder is recording this room has changed.
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
      return update(&state) { $0.own = ($0.own ?? RecorderActivity()).entering(new) }
    case .ownProgressed(let progress):
      // Progress without a recording is a late report of one that was removed.
      return update(&state) { $0.own = $0.own?.after(progress) }
    case .delegate:
      return .none
    }
  }

  /// Applies a change, and tells the parent if it starts or stops the room being recorded. Values
  /// are assigned rather than mutated in place, so that observers are not notified if nothing
  /// changed.
  private func update(_ state: inout State, _ change: (inout State) -> Void) -> Effect<Action> {
    let before = state.isRecording
    change(&state)
    let after = state.isRecording
    return before == after ? .none : .send(.delegate(.isRecordingChanged(after)))
  }
}
