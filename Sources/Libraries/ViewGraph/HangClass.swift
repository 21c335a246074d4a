import RateLimiting

/// The class of a turn of the thread that draws a screen, by its duration, as in the platforms' own
/// tools.
public enum HangClass: String, Sendable, CaseIterable, Comparable {
  /// Not noticeable: under 100 ms by default.
  case instant
  /// Possibly noticeable as a slight delay: under 250 ms by default.
  case late
  /// Noticeable: under 500 ms by default.
  case microhang
  /// At least 500 ms by default.
  case hang

  /// Classifies a turn by its duration in nanoseconds and the lower bounds of the classes.
  public init(nanoseconds: UInt64, bounds: HangBounds = .platform) {
    switch nanoseconds {
    case ..<bounds.late: self = .instant
    case ..<bounds.microhang: self = .late
    case ..<bounds.hang: self = .microhang
    default: self = .hang
    }
  }

  /// The duration of the shortest turn that is reported, in nanoseconds.
  package static let reportedNanoseconds = HangBounds.platform.microhang

  /// Orders the classes by increasing duration.
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

/// The lower bounds of the classes of turns, in nanoseconds.
public struct HangBounds: Hashable, Sendable {
  /// The duration of the shortest late turn.
  public let late: UInt64
  /// The duration of the shortest microhang.
  public let microhang: UInt64
  /// The duration of the shortest hang.
  public let hang: UInt64

  /// Makes bounds, which must be greater than zero and must not decrease.
  public init(late: Duration, microhang: Duration, hang: Duration) {
    precondition(.zero < late && late <= microhang && microhang <= hang, "bounds must rise")
    (self.late, self.microhang, self.hang) = (
      Self.nanoseconds(late), Self.nanoseconds(microhang), Self.nanoseconds(hang)
    )
  }

  /// The bounds of the platforms' own tools: 100, 250 and 500 ms.
  public static let platform = HangBounds(
    late: .milliseconds(100), microhang: .milliseconds(250), hang: .milliseconds(500))

  private static func nanoseconds(_ duration: Duration) -> UInt64 {
    UInt64(clamping: Interval(duration).nanoseconds)
  }
}
