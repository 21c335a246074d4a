/// The running effects of one store, grouped by the child that started them. Ending a scope takes
/// time proportional to the number of its effects. An action without effects does not access the
/// registry.
@usableFromInline
struct EffectRegistry {
  @usableFromInline let root = EffectScope(parent: nil, key: nil, identity: .any, owner: nil)
  /// For each tracked send, the number of running effects, and the waiting continuations.
  private var origins: [UInt64: (count: Int, waiting: [CheckedContinuation<Void, Never>])] = [:]
  /// The number of effects started so far.
  private(set) var started: UInt64 = 0
  private(set) var count = 0

  /// The names of running effects, in the order in which they were started. O(n log n).
  var names: [String] { all.map(\.name) }

  /// The names, with source locations for effects without a name.
  var descriptions: [String] { all.map(\.description) }

  /// All running effects, in the order in which they were started. O(n log n).
  private var all: [RunningEffect] { root.allRunning.sorted { $0.number < $1.number } }

  @usableFromInline init() {}

  // MARK: Life of an effect

  /// Registers an effect before its task starts, so that it can be cancelled immediately.
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

  /// Removes an effect whose task has returned. Returns the sequence to continue if this was the
  /// last effect that it was waiting for.
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
    guard let scope = detach(effect) else { return }
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

  /// Marks an effect as not running. If the effect was running, returns its scope, whose list still
  /// contains the effect.
  private mutating func detach(_ effect: RunningEffect) -> EffectScope? {
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

  /// Cancels running and held effects of `scope` with this identifier.
  @usableFromInline
  mutating func cancel(id: EffectID, scope: EffectScope) {
    for effect in scope.ids[id] ?? [] {
      effect.limiter?.supersede()
      cancel(effect)
    }
  }

  /// Cancels effects with this identifier that a limiter let through earlier, and those that other
  /// limiters hold back.
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

  /// Returns the scope of a child, after ending the effects of a previous child.
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

  /// Ends the scope of a child unless it belongs to the current child.
  @usableFromInline
  mutating func endScope(_ key: ScopeKey, in parent: EffectScope, unless present: ChildIdentity?) {
    guard let scope = parent.children[key] else { return }
    if let present, scope.belongs(to: present) { return }
    endScope(scope)
  }

  /// Ends the scopes of removed elements. O(n), where n is the number of elements with effects.
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
      guard detach(effect) != nil else { continue }
      for mark in effect.marks where mark.level > 0 { unmark(effect, mark, scope) }
      settle(effect.origin)
      interrupt(effect.sequence)
    }
    scope.running = []
    scope.ids = [:]
    scope.limiters = [:]
  }

  /// Removes empty scopes, starting at `scope` and going upwards.
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

  /// Resumes `continuation` when no effect of the tracked send is running any more.
  mutating func wait(for origin: UInt64, _ continuation: CheckedContinuation<Void, Never>) {
    if origins[origin] == nil { continuation.resume() }
    origins[origin]?.waiting.append(continuation)
  }

  func isRunning(origin: UInt64) -> Bool { origins[origin] != nil }

  /// Assigns an effect to another tracked send and another sequence.
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

  /// Increments the number of effects of a tracked send.
  mutating func hold(_ origin: UInt64) {
    if origin != 0 { origins[origin, default: (0, [])].count += 1 }
  }

  /// Decrements the number of effects of a tracked send.
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
