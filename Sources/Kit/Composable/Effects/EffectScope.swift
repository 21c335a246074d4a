/// Names a child among its parent's effects: the case of its actions and, in a collection, its key.
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

/// Which child it was that started an effect: its effects must not reach another one.
@usableFromInline
enum ChildIdentity {
  /// Children are not told apart: the one that is there counts as the same.
  case any
  /// The `id` of an `Identifiable` state; of an enum its case as well, and the `id` of what that carries.
  case id(AnyHashable?, tag: Int32 = 0)
  /// An element: its slot, in a collection of this lineage.
  case slot(KeyedSlot, lineage: UInt64)
}

/// What a node of a composition knows about the effects of its child or children.
public final class ChildEffects {
  /// How many children run effects. While it is 0, nothing is checked when children go.
  @exclusivity(unchecked) @usableFromInline var count = 0
  /// Counts the looks at a collection; left as a mark there, it tells whether that was replaced.
  @exclusivity(unchecked) @usableFromInline var turn: UInt64 = 0

  @usableFromInline init() {}
}

/// The effects of one child that run, and those of its own children: a node of a tree that has the
/// shape of the state. There is a node only where effects run or are limited.
///
/// Not `Sendable`: belongs to the lane of its store.
public final class EffectScope {
  @usableFromInline let key: ScopeKey?
  @usableFromInline unowned let parent: EffectScope?
  /// The node of the composition that the child belongs to; `nil` for the whole state.
  @usableFromInline let owner: ChildEffects?
  @exclusivity(unchecked) private(set) var identity: ChildIdentity
  @exclusivity(unchecked) var running: [RunningEffect] = []
  @exclusivity(unchecked) var ids: [EffectID: [RunningEffect]] = [:]
  @exclusivity(unchecked) @usableFromInline var children: [ScopeKey: EffectScope] = [:]
  @exclusivity(unchecked) var limiters: [EffectID: any Limiter] = [:]
  /// At this many limiters, those that are spent are dropped: O(1) per limiter made.
  @exclusivity(unchecked) var sweepCount = 16
  /// How many are at work in it; until they are done an empty scope is kept.
  @exclusivity(unchecked) @usableFromInline var users = 0
  /// Whether it was taken out of the tree.
  @exclusivity(unchecked) @usableFromInline var isEnded = false
  /// The next scope on the way down to the one that is being checked.
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

  /// The scope this many levels above.
  func ancestor(_ level: Int) -> EffectScope {
    var scope = self
    for _ in 0..<level { scope = scope.parent ?? scope }
    return scope
  }

  /// Its effects and those of its children. O(effects).
  var allRunning: [RunningEffect] { running + children.values.flatMap(\.allRunning) }

  /// Whether the child that `present` identifies is the one that this scope belongs to.
  ///
  /// An element is recognised in another collection by its key alone, and by its slot from then on.
  @usableFromInline
  func belongs(to present: ChildIdentity) -> Bool {
    switch (identity, present) {
    case (.id(let old, let oldTag), .id(let new, let newTag)):
      return oldTag == newTag && old == new
    case (.slot(let old, let lineage), .slot(let new, let newLineage)):
      if lineage == newLineage { return old == new }
      // Until a parent has looked at a collection it has no lineage to remember.
      if newLineage != 0 { identity = present }
      return true
    case (.any, _), (_, .any): return true
    case (.id, .slot), (.slot, .id): return false
    }
  }
}
