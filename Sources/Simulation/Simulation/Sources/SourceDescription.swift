import LiveEvents

/// One source of events, as a scenario describes it.
enum SourceDescription: Sendable {
  case recorded(Recorded)
  case generated(PayloadPattern, Arrivals.Plan, Batch)

  struct Recorded: Sendable {
    /// In order of their arrival.
    var events: [TimedEvent]
    /// Lines that carry no event.
    var rejections: [(reason: RejectionReason, count: Int)]
  }

  /// The events of one occasion.
  struct Batch: Hashable, Sendable {
    /// How many events.
    var size = 1
    /// The time within which the later ones come, out of order.
    var within = VirtualTime.zero
    /// How many of a thousand events come late, with the time stamp of when they happened.
    var lateShare: Int64 = 0
    var lateBy = VirtualTime.milliseconds(400)
  }
}
