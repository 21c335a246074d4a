/// Something that goes wrong on the way from the sources to the screen.
public struct Fault: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case stall
    case burst(times: Int)
    case reorder(by: VirtualTime)
    /// Thousandths.
    case duplicate(share: Int64)
    case drop(share: Int64)
    case reconnect(replay: VirtualTime)

    package var name: String {
      switch self {
      case .stall: "stall"
      case .burst: "burst"
      case .reorder: "reorder"
      case .duplicate: "duplicate"
      case .drop: "drop"
      case .reconnect: "reconnect"
      }
    }
  }

  package var kind: Kind
  package var start: VirtualTime
  /// The first instant after it.
  package var end: VirtualTime

  package init(kind: Kind, start: VirtualTime, end: VirtualTime) {
    self.kind = kind
    self.start = start
    self.end = end
  }

  func covers(_ time: VirtualTime) -> Bool { start <= time && time < end }

  /// Nothing arrives for a while; then everything that was held up arrives at once.
  public static func stall(at start: Duration, for length: Duration) -> Fault {
    Fault(.stall, start, length)
  }

  /// Events of the window come this many times as fast, starting at its beginning.
  public static func burst(times: Int, at start: Duration, for length: Duration) -> Fault {
    Fault(.burst(times: max(1, times)), start, length)
  }

  /// Each event is late by up to this time.
  public static func reorder(by: Duration, at start: Duration, for length: Duration) -> Fault {
    Fault(.reorder(by: VirtualTime(by)), start, length)
  }

  /// A share of the events, from 0 to 1, arrives twice, the second time up to half a second later.
  public static func duplicate(share: Double, at start: Duration, for length: Duration) -> Fault {
    Fault(.duplicate(share: thousandths(share)), start, length)
  }

  /// A share of the events, from 0 to 1, is lost.
  public static func drop(share: Double, at start: Duration, for length: Duration) -> Fault {
    Fault(.drop(share: thousandths(share)), start, length)
  }

  /// The connection is lost for a while. Afterwards the missed events arrive, and those delivered
  /// during `replay` before the loss arrive again.
  public static func reconnect(
    replay: Duration = .seconds(2), at start: Duration, for length: Duration
  ) -> Fault {
    Fault(.reconnect(replay: VirtualTime(replay)), start, length)
  }

  private init(_ kind: Kind, _ start: Duration, _ length: Duration) {
    self.init(kind: kind, start: VirtualTime(start), end: VirtualTime(start + length))
  }

  private static func thousandths(_ share: Double) -> Int64 {
    Int64((min(1, max(0, share)) * 1_000).rounded())
  }
}
