/// A running source of events.
public protocol EventSource<Event>: AnyObject {
  /// What comes from it.
  associatedtype Event

  /// The time of the next occasion; nil after the last one. Never decreases.
  var nextTime: VirtualTime? { get }

  /// The event of the next occasion, and advances; `nil`, without advancing, if ``take(_:)`` is to be called since there
  /// may be several.
  ///
  /// An event that is returned is not copied on its way, so that a source of many single events does well to have this.
  func takeOne() -> Delivery<Event>?

  /// Delivers the events of the next occasion, none of which arrives before it, and advances.
  func take(_ deliver: (Event, VirtualTime) -> Void)
}

extension EventSource {
  /// `nil`.
  @inlinable public func takeOne() -> Delivery<Event>? { nil }
}

/// An event on its way to the screen.
public struct Delivery<Event> {
  /// What arrives.
  public var event: Event
  /// When it would have arrived without faults.
  public var intended: VirtualTime

  /// An event that should arrive at `intended`.
  @inlinable
  public init(event: Event, intended: VirtualTime) {
    self.event = event
    self.intended = intended
  }
}

extension Delivery: Sendable where Event: Sendable {}

/// All events of a run in order of arrival: those of its sources after faults were applied.
///
/// Cannot be copied, because its sources advance. Inlinable, so that it is specialised where it is used.
public struct EventFeed<Source: EventSource>: ~Copyable {
  @usableFromInline let sources: [Source]
  @usableFromInline var faults: FaultStage
  /// The next occasion of each source.
  @usableFromInline var occasions = EventQueue<Int>()
  /// Events that arrive later than the occasion that they belong to, as indices of ``waiting``: events are large, and
  /// a queue moves what is in it.
  @usableFromInline var deliveries = EventQueue<Int>()
  @usableFromInline var waiting: [Delivery<Source.Event>?] = []
  /// The indices of ``waiting`` that are empty.
  @usableFromInline var free: [Int] = []
  /// When the last event arrived.
  @usableFromInline var arrival = VirtualTime.zero

  /// The events of `sources`; of simultaneous ones, those of the earlier source come first.
  ///
  /// - Parameter seed: of what faults leave to chance.
  @inlinable
  public init(_ sources: [Source], faults: [Fault] = [], seed: UInt64 = 0) {
    self.sources = sources
    self.faults = FaultStage(faults, random: SeededGenerator(seed: seed, stream: 1))
    for number in sources.indices {
      if let next = sources[number].nextTime { schedule(number, at: next) }
    }
  }

  /// When the next event arrives at the earliest; nil after the last one.
  @inlinable public var nextTime: VirtualTime? {
    guard let occasion = occasions.nextTime else { return deliveries.nextTime }
    return deliveries.nextTime.map { min($0, occasion) } ?? occasion
  }

  /// What the faults did so far.
  @inlinable public var faultCounts: FaultCounts { faults.counts }

  /// Calls `take` for each event that arrives until then, in order; see ``next(until:passing:)``.
  @inlinable
  public mutating func receive(
    until time: VirtualTime, _ take: (Delivery<Source.Event>, _ arrival: VirtualTime) -> Void
  ) {
    while let delivery = next(until: time) { take(delivery, arrival) }
  }

  /// The next event that arrives until then; `nil` if there is none. Of simultaneous events, those already under way
  /// come first.
  ///
  /// - Parameter most: how many occasions are passed of which no event arrives. After these it is `nil`, too, and
  ///   ``nextTime`` says whether there is more until then.
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

  /// Schedules the source whose occasion was the first.
  @inlinable
  mutating func advance(_ source: Source) {
    if let number = occasions.first, let next = source.nextTime {
      occasions.replaceFirst(number, at: faults.occasion(next))
    } else {
      _ = occasions.pop()
    }
  }

  /// Takes the events of the first occasion, which then wait until they arrive: now at the earliest.
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
