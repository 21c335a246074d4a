/// The running effects of one store, by the place that started them.
///
/// A tree of scopes like that of the children. Ending a scope costs time proportional to the effects
/// in and below it. Nothing here is touched by an action without effects.
struct EffectRegistry {
  typealias Number = UInt64

  /// One place: its own effects and the places below it.
  private final class Scope {
    var running: [Number] = []
    var ids: [EffectID: [Number]] = [:]
    var children: [ScopeKey: Scope] = [:]
    unowned let parent: Scope?
    let key: ScopeKey?

    init(parent: Scope?, key: ScopeKey?) {
      self.parent = parent
      self.key = key
    }

    var isEmpty: Bool { running.isEmpty && children.isEmpty }
  }

  private struct Running {
    var name: String
    var task: Task<Void, Never>?
    var scope: Scope
    /// Its position in the scope's list, for removal in O(1).
    var position: Int
    var ids: [EffectID]
  }

  private let root = Scope(parent: nil, key: nil)
  private var effects: [Number: Running] = [:]
  private(set) var last: Number = 0

  /// Number of effects that run.
  var count: Int { effects.count }

  /// Names in the order of starting. O(n log n).
  var names: [String] { effects.keys.sorted().map { effects[$0]!.name } }

  func isRunning(_ number: Number) -> Bool { effects[number] != nil }

  func name(of number: Number) -> String { effects[number]?.name ?? "effect" }

  /// Enters an effect before its task starts, so that a cancellation right after finds it.
  mutating func register(name: String, ids: [EffectID], path: [ScopeKey]) -> Number {
    last += 1
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
    effects[last] = Running(
      name: name, task: nil, scope: scope, position: scope.running.count, ids: ids)
    scope.running.append(last)
    for id in ids { scope.ids[id, default: []].append(last) }
    return last
  }

  mutating func started(_ number: Number, _ task: Task<Void, Never>) {
    if effects[number] == nil { task.cancel() } else { effects[number]!.task = task }
  }

  /// Forgets an effect that ended.
  mutating func finished(_ number: Number) {
    guard let effect = effects.removeValue(forKey: number) else { return }
    let scope = effect.scope
    let moved = scope.running.removeLast()
    if moved != number {
      scope.running[effect.position] = moved
      effects[moved]!.position = effect.position
    }
    for id in effect.ids {
      scope.ids[id]?.removeAll { $0 == number }
      if scope.ids[id]?.isEmpty == true { scope.ids[id] = nil }
    }
    prune(scope)
  }

  mutating func cancel(id: EffectID, path: [ScopeKey]) {
    guard let scope = find(path), let numbers = scope.ids[id] else { return }
    for number in numbers { cancel(number) }
  }

  /// Cancels all effects of the place `path` and below.
  mutating func endScope(_ path: [ScopeKey]) {
    guard let scope = find(path) else { return }
    end(scope)
    if let key = scope.key { scope.parent?.children[key] = nil }
    if let parent = scope.parent { prune(parent) }
  }

  mutating func cancelAll() {
    end(root)
    root.children = [:]
  }

  mutating func cancel(_ number: Number) {
    effects[number]?.task?.cancel()
    finished(number)
  }

  private mutating func end(_ scope: Scope) {
    for child in scope.children.values { end(child) }
    for number in scope.running { effects.removeValue(forKey: number)?.task?.cancel() }
    scope.running = []
    scope.ids = [:]
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
    while scope.isEmpty, let parent = scope.parent, let key = scope.key {
      parent.children[key] = nil
      scope = parent
    }
  }
}
