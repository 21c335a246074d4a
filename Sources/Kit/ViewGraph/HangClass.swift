import RateLimiting

/// How long one turn of a thread that draws a screen held it, in the classes that the platforms'
/// own tools report.
public enum HangClass: String, Sendable, CaseIterable, Comparable {
  /// Not noticeable: by default under 100 ms.
  case instant
  /// May feel slightly late: under 250 ms.
  case late
  /// Noticeable: under 500 ms.
  case microhang
  /// 500 ms and more.
  case hang

  /// - Parameters:
  ///   - nanoseconds: the length of the turn.
  ///   - bounds: where the classes begin.
  public init(nanoseconds: UInt64, bounds: HangBounds = .platform) {
    switch nanoseconds {
    case ..<bounds.late: self = .instant
    case ..<bounds.microhang: self = .late
    case ..<bounds.hang: self = .microhang
    default: self = .hang
    }
  }

  /// The shortest turn that is reported, in nanoseconds.
  package static let reportedNanoseconds = HangBounds.platform.microhang

  /// Shorter turns come first.
  public static func < (left: HangClass, right: HangClass) -> Bool {
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

/// Where the classes of turns begin, in nanoseconds.
public struct HangBounds: Hashable, Sendable {
  /// The shortest turn that may feel late.
  public let late: UInt64
  /// The shortest microhang.
  public let microhang: UInt64
  /// The shortest hang.
  public let hang: UInt64

  /// Bounds of your own, which must rise.
  public init(late: Duration, microhang: Duration, hang: Duration) {
    precondition(.zero < late && late <= microhang && microhang <= hang, "bounds must rise")
    (self.late, self.microhang, self.hang) = (
      Self.nanoseconds(late), Self.nanoseconds(microhang), Self.nanoseconds(hang)
    )
  }

  /// Those of the platforms' own tools: 100, 250 and 500 ms.
  public static let platform = HangBounds(
    late: .milliseconds(100), microhang: .milliseconds(250), hang: .milliseconds(500))

  private static func nanoseconds(_ duration: Duration) -> UInt64 {
    UInt64(clamping: Interval(duration).nanoseconds)
  }
}
