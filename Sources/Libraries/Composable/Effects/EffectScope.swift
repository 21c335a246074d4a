/// The key of a child scope: the case of its actions and, in a collection, the element's key.
@usableFromInline
struct ScopeKey: Hashable {
  @usableFromInline let tag: Int
  @usableFromInline let element: EffectID?

  @inlinable
  init(tag: Int, element: EffectID? = nil) {
    self.tag = tag
    self.element = element
  }
}

/// The identity of the child that started an effect. The effect must not reach a different child.
@usableFromInline
enum ChildIdentity {
  /// Children are not distinguished: the current child counts as the one that started the effect.
  case any
  /// The `id` of an `Identifiable` state; for an enum, also the case and the `id` of the payload.
  case id(AnyHashable?, tag: Int32 = 0)
  /// The slot of an element, in a collection with this lineage.
  case slot(KeyedSlot, lineage: UInt64)
}

/// The bookkeeping of a composition about the effects of its children.
public final class ChildEffects {
  /// The number of children with running effects; if 0, removals of children need no check.
  @exclusivity(unchecked) @usableFromInline var count = 0
  /// The number of checks of a collection, stored in the collection as its mark. A collection
  /// without this mark has been replaced.
  @exclusivity(unchecked) @usableFromInline var turn: UInt64 = 0

  @usableFromInline init() {}
}

/// The running effects of one child and of its children: a node of a tree with the shape of the
/// state. A node exists only where effects are running or limited.
///
/// Not `Sendable`: a scope belongs to the lane of its store.
public final class EffectScope {
  @usableFromInline let key: ScopeKey?
  @usableFromInline unowned let parent: EffectScope?
  /// The composition that the child belongs to, or `nil` for the whole state.
  @usableFromInline let owner: ChildEffects?
  @exclusivity(unchecked) private(set) var identity: ChildIdentity
  @exclusivity(unchecked) var running: [RunningEffect] = []
  @exclusivity(unchecked) var ids: [EffectID: [RunningEffect]] = [:]
  @exclusivity(unchecked) @usableFromInline var children: [ScopeKey: EffectScope] = [:]
  @exclusivity(unchecked) var limiters: [EffectID: any Limiter] = [:]
  /// The number of limiters at which the next sweep removes spent limiters: twice the number that
  /// the last sweep kept, so that sweeping is amortised O(1).
  @exclusivity(unchecked) var sweepCount = 16
  /// The number of operations that use the scope. An empty scope is kept while it is in use.
  @exclusivity(unchecked) @usableFromInline var users = 0
  /// Whether the scope was removed from the tree.
  @exclusivity(unchecked) @usableFromInline var isEnded = false
  /// The next scope on the path down to the scope that is being checked.
  @exclusivity(unchecked) @usableFromInline unowned(unsafe) var next: EffectScope?

  init(parent: EffectScope?, key: ScopeKey?, identity: ChildIdentity, owner: ChildEffects?) {
    self.parent = parent
    self.key = key
    self.identity = identity
    self.owner = owner
    owner?.count += 1
  }

  deinit { if !isEnded { owner?.count -= 1 } }

  var isEmpty: Bool {
    running.isEmpty && children.isEmpty && limiters.isEmpty && users == 0
  }

  func ancestor(_ level: Int) -> EffectScope {
    var scope = self
    for _ in 0..<level { scope = scope.parent ?? scope }
    return scope
  }

  /// The running effects of the child and of its children. O(n) in the number of effects.
  var allRunning: [RunningEffect] { running + children.values.flatMap(\.allRunning) }

  /// Returns whether the scope belongs to the child identified by `present`. After the whole
  /// collection was replaced, the element with the same key counts as the same element, and its new
  /// slot is recorded for later comparisons.
  @usableFromInline
  func belongs(to present: ChildIdentity) -> Bool {
    switch (identity, present) {
    case (.id(let old, let oldTag), .id(let new, let newTag)):
      return oldTag == newTag && old == new
    case (.slot(let old, let lineage), .slot(let new, let newLineage)):
      if lineage == newLineage { return old == new }
      // A collection has no lineage until a parent has checked it.
      if newLineage != 0 { identity = present }
      return true
    case (.any, _), (_, .any): return true
    case (.id, .slot), (.slot, .id): return false
    }
  }
}
