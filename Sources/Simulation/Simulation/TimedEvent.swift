public import HangSimulation
public import LiveEvents

/// An event and the virtual time at which it happens.
public struct TimedEvent: Hashable, Sendable {
  public var time: VirtualTime
  public var event: LiveEvent

  public init(time: VirtualTime, event: LiveEvent) {
    self.time = time
    self.event = event
  }
}
