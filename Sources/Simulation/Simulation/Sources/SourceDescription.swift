import HangSimulation
import LiveEvents

/// One source of events, according to a scenario.
enum SourceDescription: Sendable {
  case recorded(Recorded)
  case generated(PayloadPattern, Arrivals.Plan, Batch)

  /// How many there may be. Each run has a state for each of them.
  static let limit = 1_000

  struct Recorded: Sendable {
    /// In order of arrival.
    var events: [TimedEvent]
    /// The number of lines without an event.
    var rejections: [(reason: RejectionReason, count: Int)]
  }

  /// The events of one occasion.
  struct Batch: Hashable, Sendable {
    /// The largest ``size``. The events of an occasion are made in one piece, in some milliseconds.
    static let limit = 10_000

    /// How many events.
    var size = 1
    /// The later ones arrive within this time, out of order.
    var within = VirtualTime.zero
    /// The share of events that arrive late, in thousandths; their timestamps say when they
    /// happened.
    var lateShare: Int64 = 0
    var lateBy = VirtualTime.milliseconds(400)
  }
}

extension SourceDescription {
  /// How many events come in a second of its busiest stage; `nil` for recordings and for single times.
  ///
  /// - Parameter load: factor of the rate, in millionths.
  func mostPerSecond(load: Int64) -> Int? {
    guard case .generated(_, .staged(_, _, let stages), let batch) = self,
      let interval = stages.compactMap(\.rate.interval).min()
    else { return nil }
    let perInterval = Int128(batch.size) * Int128(load) * 1_000
    return Int(clamping: perInterval / Int128(max(1, interval.nanoseconds)))
  }
}
