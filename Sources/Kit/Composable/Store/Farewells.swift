/// What is done when a store goes.
///
/// Not `Sendable`: used on the store's lane. A class of its own, so that whoever asked for a farewell
/// can take that back without holding the store.
@usableFromInline
final class Farewells {
  private var last: UInt64 = 0
  private var all: [UInt64: () -> Void] = [:]

  @usableFromInline init() {}

  /// Adds one; the number takes it back.
  func add(_ farewell: @escaping () -> Void) -> UInt64 {
    last += 1
    all[last] = farewell
    return last
  }

  func remove(_ number: UInt64) { all[number] = nil }

  func say() {
    let all = all
    self.all = [:]
    for farewell in all.values { farewell() }
  }
}
