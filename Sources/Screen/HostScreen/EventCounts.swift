package import LiveEvents

/// The outcomes of events. `received = applied + coalesced + rejected + pending` at all times.
package struct EventCounts: Sendable, Equatable, Codable {
  package var received = 0
  package var applied = 0
  package var coalesced = 0
  package var pending = 0
  package private(set) var rejectedByReason: [RejectionReason: Int] = [:]
  package private(set) var rejected = 0

  package init() {}

  package var isConserved: Bool { received == applied &+ coalesced &+ rejected &+ pending }

  /// Whether a room can have saved these counts. Used to validate files, which may have any
  /// contents.
  package var isPossible: Bool {
    let counts = [received, applied, coalesced, rejected] + rejectedByReason.values
    return counts.allSatisfy(EventLimits.total.contains) && pending == 0 && isConserved
      && rejectedByReason.values.reduce(0, &+) == rejected
  }

  /// Counts events that were received and rejected.
  package mutating func reject(_ reason: RejectionReason, _ count: Int) {
    guard count > 0 else { return }
    received += count
    refuse(reason, count)
  }

  /// Counts events as rejected that were already counted as received.
  package mutating func refuse(_ reason: RejectionReason, _ count: Int) {
    rejected += count
    rejectedByReason[reason, default: 0] += count
  }

  /// Removes the pending events from the counts, as if they had never arrived.
  package mutating func removePending() {
    received -= pending
    pending = 0
  }

  /// Adds the counts of a room. If any sum overflows, adds nothing, so that `received` remains the
  /// sum of the outcomes. Restored rooms may have counts from a manipulated file.
  package mutating func add(_ other: EventCounts) {
    if let sum = combined(with: other, by: { $0.addingReportingOverflow($1) }) { self = sum }
  }

  /// Subtracts counts that were added before. If any result overflows, subtracts nothing.
  package mutating func subtract(_ other: EventCounts) {
    if let rest = combined(with: other, by: { $0.subtractingReportingOverflow($1) }) {
      self = rest
    }
  }

  /// Combines two counts. Returns `nil` if a result overflows, or if the number of received events
  /// would be negative.
  private func combined(
    with other: EventCounts, by operation: (Int, Int) -> (partialValue: Int, overflow: Bool)
  ) -> EventCounts? {
    var result = self
    var fits = true
    func combine(_ left: Int, _ right: Int) -> Int {
      let (value, overflow) = operation(left, right)
      fits = fits && !overflow
      return value
    }
    result.received = combine(received, other.received)
    result.applied = combine(applied, other.applied)
    result.coalesced = combine(coalesced, other.coalesced)
    result.pending = combine(pending, other.pending)
    result.rejected = combine(rejected, other.rejected)
    for (reason, count) in other.rejectedByReason {
      let value = combine(rejectedByReason[reason] ?? 0, count)
      result.rejectedByReason[reason] = value == 0 ? nil : value
    }
    return fits && result.received >= 0 ? result : nil
  }
}
