/// The class of events that pass at once and in order.
///
/// It holds nothing and so needs no state. The owner has to preserve the order: before the event is
/// applied, everything the same feature holds is delivered (by `flush(at:)`, so that a "clear"
/// never overtakes the elements before it) or dropped in favour of the event (by `supersede`, so
/// that the end of a drag replaces its changes). Limiters that promise to lose nothing
/// (``KeepAll``, ``Aggregate``, ``SummaryWindow``) can only be flushed.
public enum NeverDrop {
  /// Passes an event on.
  @inlinable public static func pass<Event>(_ event: Event) -> Step<Event> {
    Step(output: event, applied: 1)
  }
}
