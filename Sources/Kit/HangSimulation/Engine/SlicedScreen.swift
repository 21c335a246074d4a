package import RateLimiting

/// A screen that can stop in the middle of the events that have arrived.
///
/// The scenario decides how many events arrive during a turn. Taken in one piece they would keep a service, in which
/// strangers run scenarios, from its other work and from noticing that nobody waits for the result any more.
package protocol SlicedScreen: RunningScreen {
  /// Takes the next events that have arrived. What becomes of them may be reduced between two calls.
  ///
  /// - Parameters:
  ///   - most: how many events are taken at most. An instant at which events are made that arrive later counts as one.
  ///   - note: as for ``RunningScreen/receive(until:at:noting:)``.
  /// - Returns: Whether more may have arrived.
  func receive(
    atMost most: Int, until time: VirtualTime, at now: Instant,
    noting note: (_ throttle: Int, _ intended: VirtualTime) -> Void
  ) -> Bool

  /// How many events were made since the last call and have not arrived: faults drop or hold them. They are work, too.
  func takeUnseen() -> Int

  /// Set, to the number that can be kept, once more events than that are on their way. No further events are made
  /// then, so the run has to end.
  var overload: Int? { get }

  /// What to change so that fewer events come, for errors: `lower the rate of events[1]`.
  var remedy: String { get }
}
