/// Counts the memory that held events keep: the blocks in which they were received, of which each may
/// be kept by a single short text.
///
/// - Complexity: O(1); events of one block that come one after the other count it once.
package struct HeldBytes: Sendable {
  /// A throttle that keeps every event hands them on early once they keep this much, in bytes.
  package static let limit = 512 << 10

  private var block: ObjectIdentifier?
  private var bytes = 0

  package init() {}

  /// Counts a held event. Returns whether it is time to hand on all of them.
  package mutating func add(_ storage: (block: ObjectIdentifier, bytes: Int)) -> Bool {
    if storage.block != block {
      block = storage.block
      bytes += storage.bytes
    }
    return bytes >= Self.limit
  }

  /// Begins again: everything was handed on.
  package mutating func clear() { self = HeldBytes() }
}
