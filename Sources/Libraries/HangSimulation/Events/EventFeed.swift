/// A running source of events.
public protocol EventSource<Event>: AnyObject {
  /// The type of its events.
  associatedtype Event

  /// The time of the next occasion; `nil` after the last one. Never decreases.
  var nextTime: VirtualTime? { get }

  /// Returns the event of the next occasion and advances. Returns `nil`, without advancing, if the
  /// occasion may have several events; call ``take(_:)`` then. Implement this for a source of many
  /// single events: a returned event is not copied.
  func takeOne() -> Delivery<Event>?

  /// Delivers the events of the next occasion and advances. No event arrives before its occasion.
  func take(_ deliver: (Event, VirtualTime) -> Void)
}

extension EventSource {
  /// Returns `nil`, so that the events are delivered by ``take(_:)``.
  @inlinable public func takeOne() -> Delivery<Event>? { nil }
}

/// An event in flight to the screen.
public struct Delivery<Event> {
  /// The event.
  public var event: Event
  /// The time at which the event would arrive without faults.
  public var intended: VirtualTime

  /// Creates a delivery of an event that should arrive at `intended`.
  @inlinable
  public init(event: Event, intended: VirtualTime) {
    self.event = event
    self.intended = intended
  }
}

extension Delivery: Sendable where Event: Sendable {}

/// All events of a run in order of arrival, after the faults were applied to the events of the
/// sources.
///
/// The feed is not copyable, because its sources advance, and is inlinable, so that client modules
/// can specialise it.
public struct EventFeed<Source: EventSource>: ~Copyable {
  @usableFromInline let sources: [Source]
  @usableFromInline var faults: FaultStage
  /// The next occasion of each source.
  @usableFromInline var occasions = EventQueue<Int>()
  /// The events that arrive after their occasion, as indices of ``waiting``. Events are large, and
  /// a queue moves its elements.
  @usableFromInline var deliveries = EventQueue<Int>()
  @usableFromInline var waiting: [Delivery<Source.Event>?] = []
  /// The empty indices of ``waiting``.
  @usableFromInline var free: [Int] = []
  /// The arrival time of the newest event.
  @usableFromInline var arrival = VirtualTime.zero

  /// Creates a feed of the events of `sources`. Simultaneous events keep the order of their
  /// sources. `seed` determines the random choices of the faults.
  @inlinable
  public init(_ sources: [Source], faults: [Fault] = [], seed: UInt64 = 0) {
    self.sources = sources
    self.faults = FaultStage(faults, random: SeededGenerator(seed: seed, stream: 1))
    for number in sources.indices {
      if let next = sources[number].nextTime { schedule(number, at: next) }
    }
  }

  /// The earliest time at which the next event can arrive; `nil` after the last one.
  @inlinable public var nextTime: VirtualTime? {
    guard let occasion = occasions.nextTime else { return deliveries.nextTime }
    return deliveries.nextTime.map { min($0, occasion) } ?? occasion
  }

  /// The numbers of events that faults have affected so far.
  @inlinable public var faultCounts: FaultCounts { faults.counts }

  /// Calls `take` for each event that arrives up to `time`, in order; see ``next(until:passing:)``.
  @inlinable
  public mutating func receive(
    until time: VirtualTime, _ take: (Delivery<Source.Event>, _ arrival: VirtualTime) -> Void
  ) {
    while let delivery = next(until: time) { take(delivery, arrival) }
  }

  /// Returns the next event that arrives up to `time`; `nil` if there is none. Of simultaneous
  /// events, those already in flight come first.
  ///
  /// - Parameter most: The maximum number of occasions without an arriving event that one call
  ///   passes. After that number, the result is `nil`, and ``nextTime`` shows whether more events
  ///   are due.
  @inlinable
  public mutating func next(
    until time: VirtualTime, passing most: Int = .max
  ) -> Delivery<Source.Event>? {
    var passed = 0
    while passed < most, let due = nextTime, !(time < due) {
      arrival = due
      if deliveries.nextTime == due { return nextDelivery() }
      guard let number = occasions.first else { break }
      let source = sources[number]
      if faults.isEmpty, let delivery = source.takeOne() {
        advance(source)
        if !(due < delivery.intended) { return delivery }
        let arrival = delivery.intended
        hold(delivery, until: arrival)
      } else {
        gather(source, until: due)
      }
      passed += 1
    }
    return nil
  }

  /// Schedules the next occasion of the source whose occasion is first.
  @inlinable
  mutating func advance(_ source: Source) {
    if let number = occasions.first, let next = source.nextTime {
      occasions.replaceFirst(number, at: faults.occasion(next))
    } else {
      _ = occasions.pop()
    }
  }

  /// Takes the events of the first occasion, and holds each event until its arrival time, which is
  /// at least `now`.
  @inlinable
  mutating func gather(_ source: Source, until now: VirtualTime) {
    source.take { event, time in
      guard !faults.isEmpty else {
        return hold(Delivery(event: event, intended: time), until: max(now, time))
      }
      for passed in faults.pass(at: time) {
        hold(Delivery(event: event, intended: passed.intended), until: max(now, passed.arrival))
      }
    }
    advance(source)
  }

  @inlinable
  mutating func hold(_ delivery: consuming Delivery<Source.Event>, until time: VirtualTime) {
    if let index = free.popLast() {
      waiting[index] = delivery
      deliveries.push(index, at: time)
    } else {
      deliveries.push(waiting.count, at: time)
      waiting.append(delivery)
    }
  }

  @inlinable
  mutating func nextDelivery() -> Delivery<Source.Event>? {
    guard let (_, index) = deliveries.pop() else { return nil }
    free.append(index)
    var delivery: Delivery<Source.Event>?
    swap(&delivery, &waiting[index])
    return delivery
  }

  @inlinable
  mutating func schedule(_ number: Int, at next: VirtualTime) {
    occasions.push(number, at: faults.occasion(next))
  }
}
