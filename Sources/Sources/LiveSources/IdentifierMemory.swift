/// Recognises messages that arrived before, by their identifiers.
///
/// Holds hashes with a key of this process, which nobody outside can aim at. Bounded: the oldest are forgotten.
package struct IdentifierMemory: Sendable {
  /// What a thousand busy channels send while two connections overlap.
  static let capacity = 65_536

  private var known: Set<Int> = []
  /// What is in `known`, in a ring.
  private var order: [Int] = []
  private var oldest = 0

  package init() {}

  /// Whether an identifier was not seen before. O(length), amortised.
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
