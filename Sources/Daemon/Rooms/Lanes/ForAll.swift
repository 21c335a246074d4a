import Locking
import SystemSupport

/// Calls `begin` with each item, and returns once `done` was called for every item. `done` may be
/// called from any thread.
func forAll<Item>(
  _ items: [Item], _ begin: (_ item: Item, _ done: @escaping @Sendable () -> Void) -> Void
) async {
  guard !items.isEmpty else { return }
  await withCheckedContinuation { continuation in
    let left = Guarded(items.count)
    for item in items {
      begin(item) {
        let isLast = left.withLock { left in
          left -= 1
          return left == 0
        }
        if isLast { continuation.resume() }
      }
    }
  }
}
