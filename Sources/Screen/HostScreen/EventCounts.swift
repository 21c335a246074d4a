package import LiveEvents

/// Where events went. `received = applied + coalesced + rejected + pending` at any instant.
package struct EventCounts: Sendable, Equatable, Codable {
  package var received = 0
  package var applied = 0
  package var coalesced = 0
  package var pending = 0
  package private(set) var rejectedByReason: [RejectionReason: Int] = [:]
  package private(set) var rejected = 0

  package init() {}

  package var isConserved: Bool { received == applied + coalesced + rejected + pending }

  /// Counts events that were received and rejected.
  package mutating func reject(_ reason: RejectionReason, _ count: Int) {
    guard count > 0 else { return }
    received += count
    refuse(reason, count)
  }

  /// Counts events as rejected that were counted as received before.
  package mutating func refuse(_ reason: RejectionReason, _ count: Int) {
    rejected += count
    rejectedByReason[reason, default: 0] += count
  }

  /// Counts as if the pending events had never come.
  package mutating func forgetPending() {
    received -= pending
    pending = 0
  }

  package mutating func add(_ other: EventCounts) {
    received += other.received
    applied += other.applied
    coalesced += other.coalesced
    pending += other.pending
    rejected += other.rejected
    rejectedByReason.merge(other.rejectedByReason, uniquingKeysWith: +)
  }

  /// Takes out counts that were added.
  package mutating func subtract(_ other: EventCounts) {
    received -= other.received
    applied -= other.applied
    coalesced -= other.coalesced
    pending -= other.pending
    rejected -= other.rejected
    for (reason, count) in other.rejectedByReason {
      let rest = (rejectedByReason[reason] ?? 0) - count
      rejectedByReason[reason] = rest == 0 ? nil : rest
    }
  }
}
