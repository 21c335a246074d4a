extension EffectRegistry {
  /// Keeps the scope and the tracked send of a sequence alive until the sequence is over.
  mutating func begin(_ sequence: EffectSequence) {
    retain(sequence.scope)
    hold(sequence.origin)
    sequence.parent?.pending += 1
  }

  /// Ends a sequence whose parts have all ended. Returns the parent sequence if that can continue.
  mutating func complete(_ sequence: EffectSequence) -> EffectSequence? {
    close(sequence)
    guard let parent = sequence.parent else { return nil }
    parent.pending -= 1
    return parent.pending == 0 && !parent.isOver ? parent : nil
  }

  /// Ends a sequence and its parent sequences before their next parts.
  @usableFromInline
  mutating func interrupt(_ sequence: EffectSequence?) {
    var next = sequence
    while let sequence = next, !sequence.isOver {
      close(sequence)
      next = sequence.parent
    }
  }

  private mutating func close(_ sequence: EffectSequence) {
    sequence.isOver = true
    settle(sequence.origin)
    release(sequence.scope)
  }

  /// Keeps a scope until ``release(_:)``, even if the scope becomes empty.
  @usableFromInline
  func retain(_ scope: EffectScope) { scope.users += 1 }

  @usableFromInline
  func release(_ scope: EffectScope) {
    scope.users -= 1
    if !scope.isEnded { prune(scope) }
  }
}
