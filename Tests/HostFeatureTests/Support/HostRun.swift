import Composable
import ComposableTesting
import HostFeature
import LiveEvents
import RateLimiting
import TestSupport
import Throttling

/// A host with its throttles and its store, on virtual time.
struct HostRun: ~Copyable {
  let store = Store(initialState: HostFeature.State(), lane: DirectLane()) { HostFeature() }
  var throttle = HostThrottle()
  var counters = ConservationCounters()
  private(set) var actions: [HostFeature.Action] = []
  private var output = ThrottleOutput<HostFeature.Action>()

  var state: HostFeature.State { store.state }

  mutating func receive(_ event: LiveEvent, at now: Instant = .origin) {
    counters.receive()
    throttle.receive(event, at: now, into: &output)
    deliver()
  }

  mutating func receive(_ payload: LiveEvent.Payload, at now: Instant = .origin) {
    receive(LiveEvent(timestamp: 0, payload: payload), at: now)
  }

  mutating func wake(at now: Instant) {
    throttle.wake(at: now, into: &output)
    deliver()
  }

  mutating func flush(at now: Instant = .origin) {
    throttle.flush(at: now, into: &output)
    deliver()
  }

  private mutating func deliver() {
    store.send(contentsOf: output.actions)
    actions += output.actions
    counters.apply(output.applied)
    counters.coalesce(output.coalesced)
    for (_, count) in output.rejected { counters.reject(count) }
    output = ThrottleOutput()
  }
}
