/// The callbacks that run when a store is deallocated. Not `Sendable`: used on the store's lane. A
/// separate class, so that a callback can be removed without a reference to the store.
@usableFromInline
final class EndCallbacks {
  private var last: UInt64 = 0
  private var all: [UInt64: () -> Void] = [:]

  @usableFromInline init() {}

  /// Adds a callback; pass the returned number to ``remove(_:)``.
  func add(_ callback: @escaping () -> Void) -> UInt64 {
    last += 1
    all[last] = callback
    return last
  }

  func remove(_ number: UInt64) { all[number] = nil }

  func callAll() {
    let all = all
    self.all = [:]
    for callback in all.values { callback() }
  }
}
