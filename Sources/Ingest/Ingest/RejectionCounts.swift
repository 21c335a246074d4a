package import LiveEvents
package import WireFormats

/// The number of rejected lines or events by reason, and the number of remarks about lines.
package struct RejectionCounts: Sendable, Hashable {
  private var counts: [RejectionReason: Int] = [:]
  private var faults: [RejectionReason: String] = [:]

  package init() {}

  package subscript(reason: RejectionReason) -> Int { counts[reason] ?? 0 }

  /// The number of lines rejected for any reason.
  package private(set) var total = 0

  /// The number of times that each remark was made, including remarks about accepted lines.
  package private(set) var remarks: [DecodingRemark: Int] = [:]
  /// The maximum number of distinct remarks, since senders choose the names of kinds.
  private static let maximumRemarks = 64

  package var isEmpty: Bool { total == 0 && remarks.isEmpty }

  /// The reasons that occurred, in the order of their declaration.
  package var byReason: [(reason: RejectionReason, count: Int)] {
    RejectionReason.allCases.compactMap { reason in counts[reason].map { (reason, $0) } }
  }

  /// Returns a description of the fault in the first line rejected for `reason`, if it is known.
  package func firstFault(_ reason: RejectionReason) -> String? { faults[reason] }

  /// - Parameter fault: A description of the fault in the first of the lines.
  package mutating func add(_ reason: RejectionReason, count: Int = 1, fault: String? = nil) {
    guard count > 0 else { return }
    if counts[reason] == nil { faults[reason] = fault }
    counts[reason, default: 0] += count
    total += count
  }

  package mutating func add(_ remark: DecodingRemark, count: Int = 1) {
    let isListed = remarks.count < Self.maximumRemarks || remarks[remark] != nil
    remarks[isListed ? remark : .kind("others"), default: 0] += count
  }

  package mutating func add(_ other: RejectionCounts) {
    for (remark, count) in other.remarks { add(remark, count: count) }
    for (reason, count) in other.counts { add(reason, count: count, fault: other.faults[reason]) }
  }
}
