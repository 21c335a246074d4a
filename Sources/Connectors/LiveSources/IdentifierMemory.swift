/// Recognises repeated messages by their identifiers.
///
/// Keeps a bounded number of hashes, and removes the oldest first. The hash key is random for each
/// process, so that no peer can provoke collisions.
package struct IdentifierMemory: Sendable {
  /// Enough for the messages that a thousand busy channels send while two connections overlap.
  static let capacity = 65_536

  private var known: Set<Int> = []
  /// The elements of `known`, as a ring buffer.
  private var order: [Int] = []
  private var oldest = 0

  package init() {}

  /// Adds an identifier and returns whether it is new. Takes O(length), amortised.
  package mutating func isNew(_ identifier: UnsafeRawBufferPointer) -> Bool {
    var hasher = Hasher()
    hasher.combine(bytes: identifier)
    let hash = hasher.finalize()
    guard known.insert(hash).inserted else { return false }
    if order.count < Self.capacity {
      order.append(hash)
    } else {
      known.remove(order[oldest])
      order[oldest] = hash
      oldest = (oldest + 1) % Self.capacity
    }
    return true
  }
}
