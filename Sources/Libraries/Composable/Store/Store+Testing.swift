// Internals of the store that the test stores need.
extension Store {
  /// The number that the next tracked send will have.
  package var nextOrigin: UInt64 { turn + 1 }

  /// Returns the effects of a tracked send.
  package func effects(of origin: UInt64) -> SentEffects<State, Action> {
    SentEffects(store: self, origin: origin)
  }

  /// Sends `action` as a consequence of a tracked send.
  package func send(_ action: Action, origin: UInt64) { within(origin) { send(action) } }

  /// Reduces `action` and returns the paths of unrecorded changes, which indicate a fault.
  package func sendChecked(_ action: Action, origin: UInt64) -> [String] {
    drainChanges()
    let old = _state
    send(action, origin: origin)
    guard !isReplaced else { return [] }
    var paths: [String] = []
    _state._$collectUnrecorded(since: old, at: "", into: &paths)
    return paths
  }
}
