/// Counts the bytes of the texts in held events.
///
/// Not the blocks in which they were received: a recording comes in other blocks than the connection
/// did from which it was made, and must be thinned alike.
package struct HeldBytes: Sendable {
  /// A throttle that keeps every event hands them on early once they keep this much, in bytes.
  package static let limit = 2 << 20

  private var bytes = 0

  package init() {}

  /// Counts a held event with texts of this length. Returns whether it is time to hand on all of them.
  package mutating func add(_ length: Int) -> Bool {
    bytes += length
    return bytes >= Self.limit
  }

  /// Begins again: everything was handed on.
  package mutating func clear() { self = HeldBytes() }
}
