/// The class of events that pass at once and in order.
///
/// It holds nothing and so needs no state. What it asks of its owner is order: before the event is
/// applied, whatever the same feature holds pending is delivered (`flush(at:)` of its machines, so
/// that a "clear" never overtakes the elements before it) or dropped in favour of the event
/// (`supersede` of those that have it, so that the end of a drag replaces its changes). Machines
/// whose promise is to lose nothing (``KeepAll``, ``Aggregate``, ``SummaryWindow``) can only be
/// flushed.
public enum NeverDrop {
  /// Passes an event on.
  @inlinable public static func pass<Event>(_ event: Event) -> Step<Event> {
    Step(output: event, applied: 1)
  }
}
