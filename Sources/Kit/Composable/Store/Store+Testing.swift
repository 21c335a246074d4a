// What the stores of tests need to know.
extension Store {
  /// How many effects were started so far; the number of the last one.
  package var lastEffect: UInt64 { effects.last }

  package func isEffectRunning(_ number: UInt64) -> Bool { effects.isRunning(number) }
  package func cancelEffect(_ number: UInt64) { effects.cancel(number) }

  /// Reduces `action` and returns the paths of what it changed without noting that: none, unless the
  /// notes are broken.
  package func sendChecked(_ action: Action) -> [String] {
    drainChanges()
    let old = _state
    send(action)
    guard !isReplaced else { return [] }
    var paths: [String] = []
    _state._$collectUnnoted(since: old, at: "", into: &paths)
    return paths
  }
}
