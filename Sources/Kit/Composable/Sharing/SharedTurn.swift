import Synchronization

/// What a reducer gets from ``Shared/change(_:)`` while it reduces an action.
///
/// A field that was assigned such a result is in step with the shared value: sharing it once more would undo
/// what others changed in the meantime.
@usableFromInline
final class SharedTurn: Sendable {
  @TaskLocal static var current: SharedTurn?

  private struct Result: Sendable {
    let shared: ObjectIdentifier
    let value: any Equatable & Sendable
  }

  // With a lock, since a task that is begun by a reducer inherits this.
  private let results = Mutex<[Result]>([])

  /// Runs `body` as a part of the turn that is under way on this thread, or of a new one.
  @usableFromInline
  static func run<Value>(_ body: () -> Value) -> (Value, SharedTurn) {
    if let current { return (body(), current) }
    let turn = SharedTurn()
    return ($current.withValue(turn) { body() }, turn)
  }

  func note<Value: Equatable & Sendable>(_ value: Value, in shared: Shared<Value>) {
    let result = Result(shared: ObjectIdentifier(shared), value: value)
    results.withLock { $0.append(result) }
  }

  /// Shares what was assigned to a field, unless it comes from the shared value itself.
  @usableFromInline
  func share<Value: Equatable & Sendable>(_ value: Value, in shared: Shared<Value>) {
    let id = ObjectIdentifier(shared)
    let isResult = results.withLock { results in
      results.contains { $0.shared == id && $0.value as? Value == value }
    }
    if !isResult { shared.change { $0 = value } }
  }
}
