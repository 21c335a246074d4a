/// Events of the waiting room, and host actions that concern it. Unless a comment names another
/// `type`, the native `type` of a case is `waiting.` followed by the case's name.
public enum WaitingRoomEvent: Sendable, Hashable {
  case join(Person)
  case leave(Person)
  /// `waiting.admit`: the platform admitted a person.
  case admitted(Person)
  /// `waiting.schedule`: the scheduled start of the stream, if known.
  case schedule(startsAt: Timestamp?)
  /// `waiting.capacity`: the maximum number of admitted people, or `nil` for no limit.
  case capacity(Int?)
  /// `waiting.pace`: the number of people per second, within ``pace``, to admit automatically while
  /// the capacity allows; `nil` for none.
  case pace(perSecond: Double?)
  /// `host.admit`: the host admits people, up to the capacity.
  case admit(Admission)

  /// The valid values of `waiting.pace`, in people per second.
  public static var pace: ClosedRange<Double> { 0.01...1_000 }
}

/// The people that the host admits.
public enum Admission: Sendable, Hashable {
  /// The person who has waited longest.
  case next
  case all
  /// The person with this identifier.
  case person(Text)
}
