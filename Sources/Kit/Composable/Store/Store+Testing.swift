// What the stores of tests need to know.
extension Store {
  /// The number of the next send, as that of a tracked one.
  package var nextOrigin: UInt64 { turn + 1 }

  /// The effects of a tracked send.
  package func effects(of origin: UInt64) -> SentEffects<State, Action> {
    SentEffects(store: self, origin: origin)
  }

  /// Sends `action` as one that follows from a tracked send.
  package func send(_ action: Action, origin: UInt64) { within(origin) { send(action) } }

  /// Reduces `action` and returns the paths of what it changed without noting that: none, unless the
  /// notes are broken.
  package func sendChecked(_ action: Action, origin: UInt64) -> [String] {
    drainChanges()
    let old = _state
    send(action, origin: origin)
    guard !isReplaced else { return [] }
    var paths: [String] = []
    _state._$collectUnnoted(since: old, at: "", into: &paths)
    return paths
  }
}
