/// What happens in the waiting room, and what the host does there.
///
/// Each case names the native `type` that carries it.
public enum WaitingRoomEvent: Sendable, Hashable {
  /// `waiting.join`
  case join(Person)
  /// `waiting.leave`
  case leave(Person)
  /// `waiting.admit`: the platform let a person in.
  case admitted(Person)
  /// `waiting.schedule`: when the stream is to begin; `nil` if that is not known.
  case schedule(startsAt: Timestamp?)
  /// `waiting.capacity`: how many people are let in at most; `nil` for no limit.
  case capacity(Int?)
  /// `waiting.pace`: how many people are let in per second, within ``pace``, as long as the capacity allows;
  /// `nil` for none but by hand.
  case pace(perSecond: Double?)
  /// `host.admit`: the host lets people in, up to the capacity.
  case admit(Admission)

  /// How many people may be let in per second.
  public static var pace: ClosedRange<Double> { 0.01...1_000 }
}

/// Whom the host lets in.
public enum Admission: Sendable, Hashable {
  /// Whoever has waited longest.
  case next
  case all
  /// One person, by identifier.
  case person(Text)
}
