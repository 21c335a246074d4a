/// Effects that run in sequence; see ``Effect/concatenate(_:)-(Effect...)``. Counts the effects and
/// sequences that the current part waits for. Not `Sendable`: belongs to the lane of its store.
@usableFromInline
class EffectSequence {
  /// The scope of the effects, kept as long as the sequence exists.
  final let scope: EffectScope
  /// The tracked send of the sequence, or 0. The send does not complete before the sequence.
  final let origin: UInt64
  final let parent: EffectSequence?
  /// The number of effects and nested sequences of the current part that have not ended.
  @exclusivity(unchecked) final var pending = 0
  /// Whether the sequence has finished or was interrupted.
  @exclusivity(unchecked) final var isOver = false

  init(scope: EffectScope, origin: UInt64, parent: EffectSequence?) {
    self.scope = scope
    self.origin = origin
    self.parent = parent
  }
}

/// A sequence with the parts that have not begun.
final class PendingEffects<Action: Sendable>: EffectSequence {
  private var rest: ArraySlice<Effect<Action>>

  init(
    _ effects: [Effect<Action>], scope: EffectScope, origin: UInt64, parent: EffectSequence?
  ) {
    rest = effects[...]
    super.init(scope: scope, origin: origin, parent: parent)
  }

  /// Returns the next part, or `nil` after the last part or if the sequence is over.
  func next() -> Effect<Action>? { isOver ? nil : rest.popFirst() }
}
