import LiveEvents

/// One source of events, as a scenario describes it.
enum SourceDescription: Sendable {
  case recorded(Recorded)
  case generated(PayloadKind, Arrivals.Plan, Batch)

  struct Recorded: Sendable {
    /// In order of their arrival.
    var events: [TimedEvent]
    /// Lines that are no events.
    var rejections: [(reason: RejectionReason, count: Int)]
  }

  /// What comes on one occasion.
  struct Batch: Hashable, Sendable {
    /// How many events.
    var size = 1
    /// The later ones come out of order within so long a time.
    var within = VirtualTime.zero
    /// So many of a thousand events come late, with the time stamp of when they happened.
    var lateShare: Int64 = 0
    var lateBy = VirtualTime.milliseconds(400)
  }
}

/// What a generator makes.
enum PayloadKind: Hashable, Sendable {
  /// The same event each time.
  case fixed(LiveEvent.Payload)
  /// A message of one of so many people.
  case chatMessage(people: Int)
  case chatDelete
  case chatClear
  case chatTimeout(seconds: Int?)
  case chatNotice(ChatNotice.Kind)
  case chatModes
  /// One of these kinds, of one to five people.
  case reaction(kinds: [String])
  /// A walk that leans towards a number.
  case viewers(goal: Int)
  case title
  /// A whole drag of one of the controls, shaped like real ones.
  case slider(controls: [String])
  case tap(controls: [String])
  case stats
  case meter(input: String)
  case recorderState
  case recorderProgress
  case waitingJoin
  case waitingLeave
  case waitingAdmit
  case stream
}
