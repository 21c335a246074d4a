package import ControlInterface
package import HostScreen
package import Ingest
import LiveEvents

extension EventCounts {
  package mutating func add(_ rejections: RejectionCounts) {
    for (reason, count) in rejections.byReason { reject(reason, count) }
  }

  package var counters: Counters {
    Counters(
      received: received, applied: applied, coalesced: coalesced, rejected: rejected,
      pending: pending)
  }

  package var reasons: [String: Int] {
    Dictionary(uniqueKeysWithValues: rejectedByReason.map { ($0.key.rawValue, $0.value) })
  }
}
