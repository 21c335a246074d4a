package import RateLimiting

/// A screen that can stop between two of the events that have arrived. The scenario decides how
/// many events arrive during a turn. A service that simulates for untrusted users must be able to
/// do other work in between, and to stop when the result is no longer needed.
package protocol SlicedScreen: RunningScreen {
  /// Receives the next events that have arrived, at most `most`. An instant at which events are
  /// created but none arrives counts as one event. Actions of events may be reduced between two
  /// calls. `note` is as in ``RunningScreen/receive(until:at:noting:)``.
  ///
  /// - Returns: Whether more events may have arrived.
  func receive(
    atMost most: Int, until time: VirtualTime, at now: Instant,
    noting note: (_ throttle: Int, _ intended: VirtualTime) -> Void
  ) -> Bool

  /// Returns the number of events that were created since the last call and have not arrived,
  /// because faults drop or hold them. These events count as work.
  func consumeUnseen() -> Int

  /// The maximum number of events in flight if that number was exceeded; otherwise `nil`. Once this
  /// property is set, no further events are created, so the run must end.
  var overload: Int? { get }

  /// A way to reduce the number of events, for errors: `lower the rate of events[1]`.
  var remedy: String { get }
}
