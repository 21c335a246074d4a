/// How long one turn of a thread that draws a screen held it, in the classes that the platforms'
/// own tools report.
package enum HangClass: String, Sendable, CaseIterable, Comparable {
  /// Under 100 ms: not noticeable.
  case instant
  /// Under 250 ms: may feel slightly late.
  case late
  /// Under 500 ms: noticeable.
  case microhang
  /// 500 ms and more.
  case hang

  /// - Parameter nanoseconds: the length of the turn.
  package init(nanoseconds: UInt64) {
    switch nanoseconds {
    case ..<100_000_000: self = .instant
    case ..<250_000_000: self = .late
    case ..<500_000_000: self = .microhang
    default: self = .hang
    }
  }

  /// The shortest turn that is reported, in nanoseconds.
  package static let reportedNanoseconds: UInt64 = 250_000_000

  package static func < (left: HangClass, right: HangClass) -> Bool {
    left.order < right.order
  }

  private var order: Int {
    switch self {
    case .instant: 0
    case .late: 1
    case .microhang: 2
    case .hang: 3
    }
  }
}
