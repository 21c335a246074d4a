/// The running effects of one store, by the child that started them.
///
/// Ending a scope costs time proportional to the effects in and below it. An action without effects
/// touches nothing here.
@usableFromInline
struct EffectRegistry {
  @usableFromInline let root = EffectScope(parent: nil, key: nil, identity: .any, owner: nil)
  /// How many effects of each tracked send run, and what waits for their end.
  private var origins: [UInt64: (count: Int, waiting: [CheckedContinuation<Void, Never>])] = [:]
  /// Number of effects that were started.
  private(set) var started: UInt64 = 0
  /// Number of effects that run.
  private(set) var count = 0

  /// Names in the order of starting. O(n log n).
  var names: [String] { all.map(\.name) }

  /// The same, with the places of those that were given no name.
  var descriptions: [String] { all.map(\.description) }

  /// All effects, in the order of starting. O(n log n).
  private var all: [RunningEffect] { root.allRunning.sorted { $0.number < $1.number } }

  @usableFromInline init() {}

  // MARK: Life of an effect

  /// Enters an effect before its task starts, so that a cancellation right after finds it.
  @usableFromInline
  mutating func register(_ effect: RunningEffect, in scope: EffectScope) {
    started += 1
    count += 1
    effect.number = started
    effect.position = scope.running.count
    scope.running.append(effect)
    for mark in effect.marks {
      scope.ancestor(mark.level).ids[mark.id, default: []].append(effect)
    }
    effect.sequence?.pending += 1
    hold(effect.origin)
  }

  @usableFromInline
  mutating func started(_ effect: RunningEffect, _ task: consuming Task<Void, Never>) {
    if effect.scope == nil { task.cancel() } else { effect.task = task }
  }

  /// Forgets an effect whose task returned. Returns the sequence that goes on, if this was the last effect
  /// that it waited for.
  @usableFromInline
  mutating func finished(_ effect: RunningEffect) -> EffectSequence? {
    effect.isCancelled = false
    guard effect.scope != nil else { return nil }
    forget(effect)
    guard let sequence = effect.sequence else { return nil }
    sequence.pending -= 1
    return sequence.pending == 0 && !sequence.isOver ? sequence : nil
  }

  private mutating func forget(_ effect: RunningEffect) {
    guard let scope = take(effect) else { return }
    let moved = scope.running.removeLast()
    if moved !== effect {
      scope.running[effect.position] = moved
      moved.position = effect.position
    }
    for mark in effect.marks { unmark(effect, mark, scope) }
    settle(effect.origin)
    prune(scope)
  }

  private func unmark(_ effect: RunningEffect, _ mark: EffectMark, _ scope: EffectScope) {
    let scope = scope.ancestor(mark.level)
    scope.ids[mark.id]?.removeAll { $0 === effect }
    if scope.ids[mark.id]?.isEmpty == true { scope.ids[mark.id] = nil }
  }

  /// Makes an effect one that does not run; returns its scope, whose list still has it, if it ran.
  private mutating func take(_ effect: RunningEffect) -> EffectScope? {
    guard let scope = effect.scope else { return nil }
    count -= 1
    effect.scope = nil
    effect.task = nil
    effect.limiter = nil
    return scope
  }

  // MARK: Cancellation

  mutating func cancel(_ effect: RunningEffect) {
    guard effect.scope != nil else { return }
    effect.task?.cancel()
    effect.isCancelled = true
    forget(effect)
    interrupt(effect.sequence)
  }

  /// Cancels the effects of `scope` with this identifier, and what limiters hold back under it.
  @usableFromInline
  mutating func cancel(id: EffectID, scope: EffectScope) {
    for effect in scope.ids[id] ?? [] {
      effect.limiter?.supersede()
      cancel(effect)
    }
  }

  /// Cancels what a limiter with this identifier let through earlier, and what other limiters hold back of it.
  mutating func cancelPassed(_ limiter: any Limiter, id: EffectID, scope: EffectScope) {
    for effect in scope.ids[id] ?? [] where effect.limiter !== limiter {
      effect.limiter?.supersede()
      cancel(effect)
    }
  }

  mutating func cancel(origin: UInt64) {
    for effect in all where effect.origin == origin {
      effect.limiter?.supersede()
      cancel(effect)
    }
  }

  @usableFromInline
  mutating func cancelAll() {
    end(root)
    root.children = [:]
  }

  // MARK: Scopes

  /// The scope of a child. If it belongs to another child, that one's effects end first.
  @usableFromInline
  mutating func scope(
    _ key: ScopeKey, _ identity: ChildIdentity, in parent: EffectScope, owner: ChildEffects?
  ) -> EffectScope {
    if let scope = parent.children[key] {
      if scope.belongs(to: identity) { return scope }
      endScope(scope)
    }
    let scope = EffectScope(parent: parent, key: key, identity: identity, owner: owner)
    parent.children[key] = scope
    return scope
  }

  /// Ends the scope of a child unless it belongs to the one that is there.
  @usableFromInline
  mutating func endScope(_ key: ScopeKey, in parent: EffectScope, unless present: ChildIdentity?) {
    guard let scope = parent.children[key] else { return }
    if let present, scope.belongs(to: present) { return }
    endScope(scope)
  }

  /// Ends the scopes of elements that are gone. O(elements with effects).
  @usableFromInline
  mutating func endElements(
    _ tag: Int, in parent: EffectScope, isPresent: (EffectScope) -> Bool
  ) {
    for (key, scope) in parent.children
    where key.tag == tag && key.element != nil && !isPresent(scope) {
      endScope(scope)
    }
  }

  /// Cancels all effects of a child and of its children.
  @usableFromInline
  mutating func endScope(_ scope: EffectScope) {
    end(scope)
    let parent = scope.parent
    detach(scope)
    if let parent { prune(parent) }
  }

  private mutating func end(_ scope: EffectScope) {
    for child in scope.children.values {
      end(child)
      markEnded(child)
    }
    scope.children = [:]
    for effect in scope.running {
      effect.task?.cancel()
      effect.isCancelled = true
      guard take(effect) != nil else { continue }
      for mark in effect.marks where mark.level > 0 { unmark(effect, mark, scope) }
      settle(effect.origin)
      interrupt(effect.sequence)
    }
    scope.running = []
    scope.ids = [:]
    scope.limiters = [:]
  }

  /// Drops empty scopes from `scope` upwards.
  @usableFromInline
  func prune(_ scope: EffectScope) {
    var scope = scope
    while let parent = scope.parent, scope.isEmpty, !scope.isEnded {
      detach(scope)
      scope = parent
    }
  }

  private func detach(_ scope: EffectScope) {
    guard let key = scope.key, let parent = scope.parent, parent.children[key] === scope else {
      return
    }
    parent.children[key] = nil
    markEnded(scope)
  }

  private func markEnded(_ scope: EffectScope) {
    guard !scope.isEnded else { return }
    scope.isEnded = true
    scope.owner?.count -= 1
  }

  // MARK: Tracked sends

  /// Resumes `continuation` when no effect of the tracked send runs any more.
  mutating func wait(for origin: UInt64, _ continuation: CheckedContinuation<Void, Never>) {
    if origins[origin] == nil { continuation.resume() }
    origins[origin]?.waiting.append(continuation)
  }

  func isRunning(origin: UInt64) -> Bool { origins[origin] != nil }

  /// Counts an effect as one of another tracked send and of another sequence.
  mutating func move(
    _ effect: RunningEffect, to origin: UInt64, _ sequence: EffectSequence?
  ) {
    hold(origin)
    settle(effect.origin)
    effect.origin = origin
    sequence?.pending += 1
    effect.sequence?.pending -= 1
    effect.sequence = sequence
  }

  /// Counts one more effect of a tracked send.
  mutating func hold(_ origin: UInt64) {
    if origin != 0 { origins[origin, default: (0, [])].count += 1 }
  }

  /// Counts one effect less.
  mutating func settle(_ origin: UInt64) {
    guard origin != 0, let old = origins[origin] else { return }
    if old.count > 1 {
      origins[origin]?.count -= 1
    } else {
      origins[origin] = nil
      for continuation in old.waiting { continuation.resume() }
    }
  }

  // MARK: Limiters

  /// The limiter of `id` in `scope`; made if there is none.
  func limiter(_ id: EffectID, scope: EffectScope, make: () -> any Limiter) -> any Limiter {
    if let limiter = scope.limiters[id] { return limiter }
    if scope.limiters.count >= scope.sweepCount {
      scope.limiters = scope.limiters.filter { !$0.value.isSpent }
      scope.sweepCount = max(16, 2 * scope.limiters.count)
    }
    let limiter = make()
    scope.limiters[id] = limiter
    return limiter
  }
}
