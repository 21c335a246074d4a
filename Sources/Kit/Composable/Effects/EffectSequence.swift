/// Effects that run one after the other; see ``Effect/concatenate(_:)-(Effect...)``.
///
/// It counts what the part under way still waits for: its effects, and the sequences within it. Not
/// `Sendable`: belongs to the lane of its store.
@usableFromInline
class EffectSequence {
  /// The scope of the effects, which is kept as long as the sequence.
  final let scope: EffectScope
  /// The tracked send that it belongs to, which lasts as long as the sequence; 0 if there is none.
  final let origin: UInt64
  /// The sequence of which this is a part.
  final let parent: EffectSequence?
  /// How much of the part under way has not ended.
  @exclusivity(unchecked) final var pending = 0
  /// Whether it has run to its end, or was interrupted.
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

  /// The part that comes next; `nil` behind the last one and in a sequence that is over.
  func next() -> Effect<Action>? { isOver ? nil : rest.popFirst() }
}
