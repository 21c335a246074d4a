import HangSimulation
import LiveEvents

/// A source of events, as a scenario defines it.
enum SourceDescription: Sendable {
  case recorded(Recorded)
  case generated(PayloadPattern, Arrivals.Plan, Batch)

  /// The maximum number of sources. It is limited because each run keeps a state for each source.
  static let limit = 1_000

  struct Recorded: Sendable {
    var events: [TimedEvent]
    /// The number of rejected lines for each reason.
    var rejections: [(reason: RejectionReason, count: Int)]
  }

  /// The events of one occasion.
  struct Batch: Hashable, Sendable {
    /// The maximum ``size``. The events of an occasion are created together, which takes a few
    /// milliseconds.
    static let limit = 10_000

    /// The number of events.
    var size = 1
    /// The period in which the events of an occasion arrive. The first event arrives at its
    /// beginning, the others at random times in any order.
    var within = VirtualTime.zero
    /// The share of events that arrive late, in thousandths. The timestamp of a late event is the
    /// time at which it happened, not the time at which it arrives.
    var lateShare: Int64 = 0
    var lateBy = VirtualTime.milliseconds(400)
  }
}

extension SourceDescription {
  /// Returns the number of events per second in the busiest stage; `nil` for a recording, and for a
  /// source whose times are listed individually. `load` is a factor for the rate, in millionths.
  func mostPerSecond(load: Int64) -> Int? {
    guard case .generated(_, .staged(_, _, let stages), let batch) = self,
      let interval = stages.compactMap(\.rate.interval).min()
    else { return nil }
    let perInterval = Int128(batch.size) * Int128(load) * 1_000
    return Int(clamping: perInterval / Int128(max(1, interval.nanoseconds)))
  }
}
