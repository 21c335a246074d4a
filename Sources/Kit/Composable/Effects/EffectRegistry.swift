/// What lets some effects of one identifier through.
@usableFromInline
protocol Limiter: AnyObject {
  /// Whether it holds nothing back and would let the next effect through as a new one would.
  var isSpent: Bool { get }
  /// Forgets what it holds back.
  func supersede()
}

/// The running effects of one store, by the child that started them.
///
/// Ending a scope costs time proportional to the effects in and below it. An action without effects
/// touches nothing here.
@usableFromInline
struct EffectRegistry {
  @usableFromInline typealias Number = UInt64

  private struct Running {
    var name: String
    var task: Task<Void, Never>?
    var scope: EffectScope
    /// Its position in the scope's list, for removal in O(1).
    var position: Int
    var ids: [EffectID]
    /// The tracked send that it follows from; 0 if that is not tracked.
    var origin: UInt64
    /// The limiter that it wakes.
    var limiter: (any Limiter)?
  }

  @usableFromInline let root = EffectScope(parent: nil, key: nil, identity: .any, owner: nil)
  private var effects: [Number: Running] = [:]
  /// Cancelled effects whose task has not returned yet: what they still send is dropped in silence.
  private var cancelled: Set<Number> = []
  /// How many effects of each tracked send run, and what waits for their end.
  private var origins: [UInt64: (count: Int, waiting: [CheckedContinuation<Void, Never>])] = [:]
  private(set) var last: Number = 0

  /// Number of effects that run.
  var count: Int { effects.count }

  /// Names in the order of starting. O(n log n).
  var names: [String] { effects.keys.sorted().compactMap { effects[$0]?.name } }

  @usableFromInline init() {}

  @usableFromInline
  func isRunning(_ number: Number) -> Bool { effects[number] != nil }
  @usableFromInline
  func scope(of number: Number) -> EffectScope? { effects[number]?.scope }
  @usableFromInline
  func name(of number: Number) -> String? { effects[number]?.name }
  @usableFromInline
  func origin(of number: Number) -> UInt64 { effects[number]?.origin ?? 0 }
  func limiter(of number: Number) -> (any Limiter)? { effects[number]?.limiter }

  /// Whether the effect was cancelled and its task has not returned yet.
  @usableFromInline
  func isCancelled(_ number: Number) -> Bool { cancelled.contains(number) }

  // MARK: Life of an effect

  /// Enters an effect before its task starts, so that a cancellation right after finds it.
  @usableFromInline
  mutating func register(
    name: String, ids: [EffectID], scope: EffectScope, origin: UInt64, limiter: (any Limiter)?
  ) -> Number {
    last += 1
    effects[last] = Running(
      name: name, task: nil, scope: scope, position: scope.running.count, ids: ids,
      origin: origin, limiter: limiter)
    scope.running.append(last)
    for id in ids { scope.ids[id, default: []].append(last) }
    if origin != 0 { origins[origin, default: (0, [])].count += 1 }
    return last
  }

  @usableFromInline
  mutating func started(_ number: Number, _ task: Task<Void, Never>) {
    if effects[number] == nil { task.cancel() } else { effects[number]?.task = task }
  }

  /// Forgets an effect whose task returned.
  @usableFromInline
  mutating func finished(_ number: Number) {
    if cancelled.remove(number) == nil { forget(number) }
  }

  private mutating func forget(_ number: Number) {
    guard let effect = effects.removeValue(forKey: number) else { return }
    let scope = effect.scope
    let moved = scope.running.removeLast()
    if moved != number {
      scope.running[effect.position] = moved
      effects[moved]?.position = effect.position
    }
    for id in effect.ids {
      scope.ids[id]?.removeAll { $0 == number }
      if scope.ids[id]?.isEmpty == true { scope.ids[id] = nil }
    }
    settle(effect.origin)
    prune(scope)
  }

  // MARK: Cancellation

  mutating func cancel(_ number: Number) {
    guard let effect = effects[number] else { return }
    effect.task?.cancel()
    cancelled.insert(number)
    forget(number)
  }

  /// Cancels the effects of `scope` with this identifier, and what limiters hold back under it.
  @usableFromInline
  mutating func cancel(id: EffectID, scope: EffectScope) {
    for number in scope.ids[id] ?? [] {
      effects[number]?.limiter?.supersede()
      cancel(number)
    }
  }

  /// Cancels what a limiter with this identifier let through earlier.
  mutating func cancelPassed(id: EffectID, scope: EffectScope) {
    for number in scope.ids[id] ?? [] where effects[number]?.limiter == nil { cancel(number) }
  }

  mutating func cancel(origin: UInt64) {
    for number in effects.keys.sorted() where effects[number]?.origin == origin {
      effects[number]?.limiter?.supersede()
      cancel(number)
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
      release(child)
    }
    scope.children = [:]
    for number in scope.running {
      guard let effect = effects.removeValue(forKey: number) else { continue }
      effect.task?.cancel()
      cancelled.insert(number)
      settle(effect.origin)
    }
    scope.running = []
    scope.ids = [:]
    scope.limiters = [:]
  }

  /// Drops empty scopes from `scope` upwards.
  @usableFromInline
  func prune(_ scope: EffectScope) {
    var scope = scope
    while scope.isEmpty, !scope.isEnded, let parent = scope.parent {
      detach(scope)
      scope = parent
    }
  }

  private func detach(_ scope: EffectScope) {
    guard let key = scope.key, let parent = scope.parent, parent.children[key] === scope else {
      return
    }
    parent.children[key] = nil
    release(scope)
  }

  private func release(_ scope: EffectScope) {
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

  /// Counts an effect as one of another tracked send.
  mutating func move(_ number: Number, to origin: UInt64) {
    guard let old = effects[number]?.origin, old != origin else { return }
    effects[number]?.origin = origin
    if origin != 0 { origins[origin, default: (0, [])].count += 1 }
    settle(old)
  }

  private mutating func settle(_ origin: UInt64) {
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
