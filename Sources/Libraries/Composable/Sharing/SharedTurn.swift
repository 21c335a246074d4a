import Locking

/// One action of a feature that shares a value, with the version that the copy is based on.
final class SharedTurn: Sendable {
  @TaskLocal private static var current: SharedTurn?

  private let core: ObjectIdentifier
  /// The turn of the parent while a child is being reduced.
  private let outer: SharedTurn?
  // Protected by a lock, because tasks started by a reducer inherit the turn.
  private let version: Guarded<any Sendable>

  private init<Value>(_ core: SharedCore<Value>, _ base: SharedCore<Value>.Version) {
    self.core = ObjectIdentifier(core)
    outer = Self.current
    version = Guarded(base)
  }

  /// Runs `body` as an action of a feature whose copy has the value of `base`. Returns the version
  /// that the copy was last synchronized with.
  static func run<Value, Result>(
    _ core: SharedCore<Value>, _ base: SharedCore<Value>.Version, _ body: () -> Result
  ) -> (Result, SharedCore<Value>.Version) {
    let turn = SharedTurn(core, base)
    let result = $current.withValue(turn, operation: body)
    return (result, turn.base(in: core) ?? base)
  }

  /// Returns the innermost turn of a feature that shares this value.
  static func current<Value>(for core: SharedCore<Value>) -> SharedTurn? {
    var turn = current
    while let present = turn, present.core != ObjectIdentifier(core) { turn = present.outer }
    return turn
  }

  /// Returns the version that the copy was last synchronized with.
  func base<Value>(in _: SharedCore<Value>) -> SharedCore<Value>.Version? {
    version.withLock { $0 as? SharedCore<Value>.Version }
  }

  /// Records that the copy was synchronized with a newer version.
  func rebase<Value>(_ newest: SharedCore<Value>.Version) where Value: Equatable & Sendable {
    version.withLock { $0 = newest }
  }
}
