import Synchronization

/// Counts the memory in bytes of all deliveries of a server that the sink has not consumed yet.
/// While the count is at its limit, each connection may hand over only its own share, so that no
/// connection can prevent the others from sending.
package final class IngestMemory: Sendable {
  private let limit: Int
  private let used = Atomic<Int>(0)

  package init(limit: Int) { self.limit = limit }

  /// The number of bytes in use.
  package var bytes: Int { used.load(ordering: .relaxed) }
  func isFull(with more: Int) -> Bool { bytes + more >= limit }

  func add(_ bytes: Int) { used.wrappingAdd(bytes, ordering: .relaxed) }
  func subtract(_ bytes: Int) { used.wrappingSubtract(bytes, ordering: .relaxed) }
}
