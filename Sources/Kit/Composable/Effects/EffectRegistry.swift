/// What lets some effects of one identifier through.
@usableFromInline
protocol Limiter: AnyObject {
  /// Whether it holds nothing back and would let the next effect through as a new one would.
  var isSpent: Bool { get }
}

/// The running effects of one store, by the place that started them.
///
/// A tree of scopes like that of the children. Ending a scope costs time proportional to the effects
/// in and below it. Nothing here is touched by an action without effects.
@usableFromInline
struct EffectRegistry {
  @usableFromInline typealias Number = UInt64

  /// One place: its own effects and the places below it.
  private final class Scope {
    var running: [Number] = []
    var ids: [EffectID: [Number]] = [:]
    var children: [ScopeKey: Scope] = [:]
    var limiters: [EffectID: any Limiter] = [:]
    /// At so many limiters those that are spent are dropped: O(1) per limiter made.
    var sweepCount = 16
    unowned let parent: Scope?
    let key: ScopeKey?

    init(parent: Scope?, key: ScopeKey?) {
      self.parent = parent
      self.key = key
    }

    var isEmpty: Bool { running.isEmpty && children.isEmpty && limiters.isEmpty }
  }

  private struct Running {
    var name: String
    var task: Task<Void, Never>?
    var scope: Scope
    /// Its position in the scope's list, for removal in O(1).
    var position: Int
    var ids: [EffectID]
    /// The tracked send that it follows from; 0 if that is not tracked.
    var origin: UInt64
    /// The limiter that it wakes.
    var limiter: (any Limiter)?
  }

  private let root = Scope(parent: nil, key: nil)
  private var effects: [Number: Running] = [:]
  /// How many effects of each tracked send run, and who waits for their end.
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
  func name(of number: Number) -> String { effects[number]?.name ?? "effect" }
  @usableFromInline
  func origin(of number: Number) -> UInt64 { effects[number]?.origin ?? 0 }
  func limiter(of number: Number) -> (any Limiter)? { effects[number]?.limiter }

  // MARK: Life of an effect

  /// Enters an effect before its task starts, so that a cancellation right after finds it.
  @usableFromInline
  mutating func register(
    name: String, ids: [EffectID], path: [ScopeKey], origin: UInt64, limiter: (any Limiter)?
  ) -> Number {
    last += 1
    let scope = makeScope(path)
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

  /// Forgets an effect that ended.
  @usableFromInline
  mutating func finished(_ number: Number) {
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
    effects[number]?.task?.cancel()
    finished(number)
  }

  @usableFromInline
  mutating func cancel(id: EffectID, path: [ScopeKey]) {
    guard let scope = find(path) else { return }
    scope.limiters[id] = nil
    for number in scope.ids[id] ?? [] { cancel(number) }
    prune(scope)
  }

  mutating func cancel(origin: UInt64) {
    for number in effects.keys.sorted() where effects[number]?.origin == origin { cancel(number) }
  }

  /// Cancels all effects of the place `path` and below.
  @usableFromInline
  mutating func endScope(_ path: [ScopeKey]) {
    guard let scope = find(path) else { return }
    remove(scope)
  }

  /// Cancels the effects of those elements of the case `tag` at `path` that are gone. Returns whether
  /// any element has effects left. O(elements with effects).
  @usableFromInline
  mutating func endElements(
    _ tag: Int, path: [ScopeKey], isPresent: (AnyHashable) -> Bool
  ) -> Bool {
    guard let scope = find(path) else { return false }
    var isAnyLeft = false
    for (key, child) in scope.children where key.tag == tag {
      guard let element = key.element else { continue }
      if isPresent(element.value) { isAnyLeft = true } else { remove(child) }
    }
    return isAnyLeft
  }

  @usableFromInline
  mutating func cancelAll() {
    end(root)
    root.children = [:]
  }

  private mutating func remove(_ scope: Scope) {
    end(scope)
    if let key = scope.key { scope.parent?.children[key] = nil }
    if let parent = scope.parent { prune(parent) }
  }

  private mutating func end(_ scope: Scope) {
    for child in scope.children.values { end(child) }
    for number in scope.running {
      guard let effect = effects.removeValue(forKey: number) else { continue }
      effect.task?.cancel()
      settle(effect.origin)
    }
    scope.running = []
    scope.ids = [:]
    scope.limiters = [:]
  }

  // MARK: Tracked sends

  /// Resumes `continuation` when no effect of the tracked send runs any more.
  mutating func wait(for origin: UInt64, _ continuation: CheckedContinuation<Void, Never>) {
    if origins[origin] == nil { continuation.resume() }
    origins[origin]?.waiting.append(continuation)
  }

  func isRunning(origin: UInt64) -> Bool { origins[origin] != nil }

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

  /// The limiter of `id` at `path`; made if there is none.
  func limiter(_ id: EffectID, path: [ScopeKey], make: () -> any Limiter) -> any Limiter {
    let scope = makeScope(path)
    if let limiter = scope.limiters[id] { return limiter }
    if scope.limiters.count >= scope.sweepCount {
      scope.limiters = scope.limiters.filter { !$0.value.isSpent }
      scope.sweepCount = max(16, 2 * scope.limiters.count)
    }
    let limiter = make()
    scope.limiters[id] = limiter
    return limiter
  }

  // MARK: Scopes

  private func makeScope(_ path: [ScopeKey]) -> Scope {
    var scope = root
    for key in path {
      if let child = scope.children[key] {
        scope = child
      } else {
        let child = Scope(parent: scope, key: key)
        scope.children[key] = child
        scope = child
      }
    }
    return scope
  }

  private func find(_ path: [ScopeKey]) -> Scope? {
    var scope = root
    for key in path {
      guard let child = scope.children[key] else { return nil }
      scope = child
    }
    return scope
  }

  /// Drops empty places from `scope` upwards.
  private func prune(_ scope: Scope) {
    var scope = scope
    while scope.isEmpty, let parent = scope.parent, let key = scope.key,
      parent.children[key] === scope
    {
      parent.children[key] = nil
      scope = parent
    }
  }
}
