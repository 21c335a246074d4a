extension Effect {
  /// Sends an action at every interval, for ever: until it is cancelled or its child goes.
  ///
  ///     case .started:
  ///       return .timer(every: .seconds(1), clock: clock) { _ in .ticked }.cancellable(id: "timer")
  ///
  /// The ticks keep to multiples of the interval, so delays do not add up; ticks that came due while
  /// the lane was held are sent as one.
  /// - Parameter action: makes the action of a tick, given how many intervals have passed.
  public static func timer<C: Clock<Duration> & Sendable>(
    every interval: Duration, clock: C, name: String = "timer", priority: TaskPriority? = nil,
    _ action: @escaping @Sendable (_ intervals: Int) -> Action
  ) -> Effect {
    precondition(interval > .zero, "a timer needs an interval above zero")
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
