extension Effect {
  /// Sends an action at every interval, until the effect is cancelled or its child is removed.
  ///
  ///     case .started:
  ///       return .timer(every: .seconds(1), clock: clock) { _ in .ticked }.cancellable(id: "timer")
  ///
  /// The ticks stay at multiples of the interval, so delays do not add up. Ticks that came due
  /// while the lane was busy are sent as one.
  /// - Parameter action: Makes the action of a tick from the number of intervals that have passed.
  public static func timer<C: Clock<Duration> & Sendable>(
    every interval: Duration, clock: C, name: String = "timer", priority: TaskPriority? = nil,
    _ action: @escaping @Sendable (_ intervals: Int) -> Action
  ) -> Effect {
    precondition(interval > .zero, "the interval of a timer must be greater than zero")
    return .run(name: name, priority: priority) { send in
      let start = clock.now
      var ticks = 0
      while !Task.isCancelled {
        ticks = max(ticks, Int(start.duration(to: clock.now) / interval)) + 1
        try await clock.sleep(until: start.advanced(by: interval * ticks), tolerance: nil)
        send(action(ticks))
      }
    }
  }
}
