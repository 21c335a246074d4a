import HangSimulation
import LiveEvents

/// One source of events, according to a scenario.
enum SourceDescription: Sendable {
  case recorded(Recorded)
  case generated(PayloadPattern, Arrivals.Plan, Batch)

  struct Recorded: Sendable {
    /// In order of arrival.
    var events: [TimedEvent]
    /// The number of lines without an event.
    var rejections: [(reason: RejectionReason, count: Int)]
  }

  /// The events of one occasion.
  struct Batch: Hashable, Sendable {
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
