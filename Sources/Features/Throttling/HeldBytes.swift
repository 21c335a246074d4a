/// Counts the bytes of the texts in held events.
///
/// Does not count the received blocks that contain the texts: a recording arrives in other blocks
/// than the original connection, but must be throttled in the same way.
package struct HeldBytes: Sendable {
  /// The number of bytes at which a throttle that keeps every event delivers its events early.
  package static let limit = 2 << 20

  private var bytes = 0

  package init() {}

  /// Counts a held event with texts of this length. Returns whether all held events must be
  /// delivered now.
  package mutating func add(_ length: Int) -> Bool {
    bytes += length
    return bytes >= Self.limit
  }

  /// Resets the count after all held events were delivered.
  package mutating func clear() { self = HeldBytes() }
}
