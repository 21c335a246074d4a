import Synchronization

/// What the connections of a server have handed over and the sink has not consumed yet, in bytes of memory.
///
/// While it is full, each connection hands over no more than its own share, so that none can keep the
/// others from sending.
package final class IngestMemory: Sendable {
  private let limit: Int
  private let used = Atomic<Int>(0)

  package init(limit: Int) { self.limit = limit }

  /// How much is taken.
  package var bytes: Int { used.load(ordering: .relaxed) }
  func isFull(with more: Int) -> Bool { bytes + more >= limit }

  func add(_ bytes: Int) { used.wrappingAdd(bytes, ordering: .relaxed) }
  func subtract(_ bytes: Int) { used.wrappingSubtract(bytes, ordering: .relaxed) }
}
