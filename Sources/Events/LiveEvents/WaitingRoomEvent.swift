/// Events of the waiting room, and acts of the host on it.
///
/// Each case names its native `type`.
public enum WaitingRoomEvent: Sendable, Hashable {
  /// `waiting.join`
  case join(Person)
  /// `waiting.leave`
  case leave(Person)
  /// `waiting.admit`: the platform admitted a person.
  case admitted(Person)
  /// `waiting.schedule`: the scheduled start of the stream; `nil` if unknown.
  case schedule(startsAt: Timestamp?)
  /// `waiting.capacity`: the maximum number of admitted people; `nil` for no limit.
  case capacity(Int?)
  /// `waiting.pace`: the number of people admitted automatically per second, within ``pace``, as
  /// long as the capacity allows; `nil` for none.
  case pace(perSecond: Double?)
  /// `host.admit`: the host admits people, up to the capacity.
  case admit(Admission)

  /// The valid numbers of people admitted per second.
  public static var pace: ClosedRange<Double> { 0.01...1_000 }
}

/// The people that the host admits.
public enum Admission: Sendable, Hashable {
  /// The person who has waited longest.
  case next
  case all
  /// One person, by identifier.
  case person(Text)
}
