public import LiveEvents

/// How many lines or events were rejected, by reason.
public struct RejectionCounts: Sendable, Hashable {
  private var counts: [RejectionReason: Int] = [:]

  public init() {}

  /// The number of lines rejected for `reason`.
  public subscript(reason: RejectionReason) -> Int { counts[reason] ?? 0 }

  /// The number of lines rejected for any reason.
  public private(set) var total = 0

  public var isEmpty: Bool { total == 0 }

  /// The reasons that occurred, in the order of their declaration.
  public var byReason: [(reason: RejectionReason, count: Int)] {
    RejectionReason.allCases.compactMap { reason in counts[reason].map { (reason, $0) } }
  }

  public mutating func add(_ reason: RejectionReason, count: Int = 1) {
    guard count > 0 else { return }
    counts[reason, default: 0] += count
    total += count
  }

  public mutating func add(_ other: RejectionCounts) {
    for (reason, count) in other.counts { add(reason, count: count) }
  }
}
