/// A fault in the transport of events from the sources to the screen.
public struct Fault: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case stall
    case burst(times: Int)
    case reorder(by: VirtualTime)
    /// The share of duplicated events, in thousandths.
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
  /// The first instant after the fault.
  package var end: VirtualTime

  package init(kind: Kind, start: VirtualTime, end: VirtualTime) {
    self.kind = kind
    self.start = start
    self.end = end
  }

  func covers(_ time: VirtualTime) -> Bool { start <= time && time < end }

  /// Holds back all events for a while, and then delivers them together.
  public static func stall(at start: Duration, for length: Duration) -> Fault {
    Fault(.stall, start, length)
  }

  /// Delivers the events of the window `times` times as fast, starting at the window's beginning.
  public static func burst(times: Int, at start: Duration, for length: Duration) -> Fault {
    Fault(.burst(times: max(1, times)), start, length)
  }

  /// Delays each event by up to this time.
  public static func reorder(by: Duration, at start: Duration, for length: Duration) -> Fault {
    Fault(.reorder(by: VirtualTime(by)), start, length)
  }

  /// Delivers a share of the events (0 to 1) twice. The copy arrives up to half a second later.
  public static func duplicate(share: Double, at start: Duration, for length: Duration) -> Fault {
    Fault(.duplicate(share: thousandths(share)), start, length)
  }

  /// Loses a share of the events (0 to 1).
  public static func drop(share: Double, at start: Duration, for length: Duration) -> Fault {
    Fault(.drop(share: thousandths(share)), start, length)
  }

  /// Interrupts the connection for a while. Afterwards, the missed events arrive, and the events of
  /// the `replay` period before the loss arrive again.
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
