package import LiveEvents
package import RateLimiting
package import Throttling

/// Passes `recorder.state` immediately, and throttles `recorder.progress`: one action per whole
/// percent and for the last report, or one per second while the total is unknown.
package struct RecorderThrottle: PartThrottle {
  package typealias Action = RecorderFeature.Action

  private var progress: ProgressThinner<RecorderProgress>

  package init(_ policies: ThrottlePolicies = ThrottlePolicies()) {
    progress = ProgressThinner(interval: policies[.progress].interval)
  }

  package mutating func apply(_ policies: ThrottlePolicies) {
    progress.interval = policies[.progress].interval
  }

  /// Does nothing, because the interval of progress is fixed.
  package mutating func record(cost: Interval) {}

  package var pending: Int { progress.pending }
  package var deadline: Instant? { progress.deadline }

  package mutating func receive(
    _ event: RecorderEvent, timestamp: Timestamp, at now: Instant,
    into output: inout ThrottleOutput<Action>
  ) {
    switch event {
    case .state(let state):
      flush(before: state, at: now, into: &output)
      output.apply(.stateChanged(state))
    case .progress(let reading):
      let step =
        switch (reading.done, reading.total) {
        case (let done?, let total?):
          progress.push(
            reading, completed: UInt64(clamping: done), total: UInt64(clamping: total), at: now)
        case (let done, _):
          progress.push(
            reading, completed: UInt64(clamping: done ?? reading.bytes), total: nil, at: now)
        }
      deliver(step, into: &output)
    }
  }

  package mutating func wake(at now: Instant, into output: inout ThrottleOutput<Action>) {
    deliver(progress.wake(at: now), into: &output)
  }

  package mutating func flush(at now: Instant, into output: inout ThrottleOutput<Action>) {
    deliver(progress.flush(at: now), into: &output)
  }

  /// Outputs the held progress. After a state that begins or ends a recording, progress restarts.
  private mutating func flush(
    before state: RecorderState, at now: Instant, into output: inout ThrottleOutput<Action>
  ) {
    switch state {
    case .idle, .starting, .failed: deliver(progress.finish(at: now), into: &output)
    case .recording, .paused, .stopping: deliver(progress.flush(at: now), into: &output)
    }
  }

  private func deliver(_ step: Step<RecorderProgress>, into output: inout ThrottleOutput<Action>) {
    output.coalesce(step.coalesced)
    if let due = step.output { output.apply(.progressed(due), events: step.applied) }
  }
}
