/// What is called when a store ends.
///
/// Not `Sendable`: used on the store's lane. A class of its own, so that a callback can be removed without
/// holding the store.
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
