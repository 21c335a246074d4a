/// A running source of events.
public protocol EventSource<Event>: AnyObject {
  /// What comes from it.
  associatedtype Event

  /// The time of the next occasion; nil after the last one. Never decreases.
  var nextTime: VirtualTime? { get }

  /// Delivers the events of the next occasion, none of which arrives before it, and advances.
  func take(_ deliver: (Event, VirtualTime) -> Void)
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
  /// Events that arrive later than the occasion that they belong to.
  @usableFromInline var deliveries = EventQueue<Delivery<Source.Event>>()

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

  /// Calls `take` for each event that arrives until then, in order. Of simultaneous events, those
  /// already under way come first.
  @inlinable
  public mutating func receive(
    until time: VirtualTime, _ take: (Delivery<Source.Event>, _ arrival: VirtualTime) -> Void
  ) {
    while let due = nextTime, !(time < due) {
      if deliveries.nextTime == due, let (_, delivery) = deliveries.pop() {
        take(delivery, due)
      } else if let (_, number) = occasions.pop() {
        gather(number, until: due, take)
      }
    }
  }

  /// Takes the events of one occasion: immediate ones now, delayed ones when they arrive.
  @inlinable
  mutating func gather(
    _ number: Int, until now: VirtualTime, _ take: (Delivery<Source.Event>, VirtualTime) -> Void
  ) {
    let source = sources[number]
    source.take { event, time in pass(event, time, until: now, take) }
    if let next = source.nextTime { schedule(number, at: next) }
  }

  @inlinable
  mutating func pass(
    _ event: Source.Event, _ time: VirtualTime, until now: VirtualTime,
    _ take: (Delivery<Source.Event>, VirtualTime) -> Void
  ) {
    guard !faults.isEmpty else {
      let delivery = Delivery(event: event, intended: time)
      if now < time { deliveries.push(delivery, at: time) } else { take(delivery, now) }
      return
    }
    for passed in faults.pass(at: time) {
      let delivery = Delivery(event: event, intended: passed.intended)
      if now < passed.arrival {
        deliveries.push(delivery, at: passed.arrival)
      } else {
        take(delivery, now)
      }
    }
  }

  @inlinable
  mutating func schedule(_ number: Int, at next: VirtualTime) {
    occasions.push(number, at: faults.occasion(next))
  }
}
