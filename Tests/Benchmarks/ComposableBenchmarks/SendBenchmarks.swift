import BenchmarkChildren
import BenchmarkHost
import BenchmarkKit
import Composable

/// Measures the duration of one send for its caller.
func sendBenchmarks(_ harness: Harness) {
  let sends = 100_000

  if harness.isWanted("send.plain") {
    let store = Store(initialState: PanelFeature.State(), lane: LoopLane()) { PanelFeature() }
    harness.measure("send.plain", bar: "<= 30 ns", operations: sends) {
      for _ in 0..<sends { store.send(.incremented) }
    }
    keep(store.state.count)
  }

  if harness.isWanted("send.host") {
    let (store, tally) = observedHost(.immediate)
    harness.measure("send.host", bar: "<= 150 ns", operations: sends) {
      for _ in 0..<sends { store.send(.first(.incremented)) }
    }
    precondition(tally.count > sends, "the observer is called once per send")
  }

  if harness.isWanted("send.host.batched") {
    let (store, tally) = observedHost(.batched)
    harness.measure("send.host.batched", bar: "<= 50 ns", operations: sends) {
      for _ in 0..<(sends / 100) {
        for _ in 0..<100 { store.send(.first(.incremented)) }
        store.deliverChanges()
      }
    }
    precondition(tally.count >= sends / 100, "the observer is called once per batch")
  }

  if harness.isWanted("send.child") {
    let (store, tally) = observedHost(.batched)
    store.send(.opened)
    let children = [
      store.scope(state: \.first, action: \.first), store.scope(state: \.second, action: \.second),
      store.scope(state: \.third, action: \.third), store.scope(state: \.fourth, action: \.fourth),
      store.scope(state: \.fifth, action: \.fifth),
    ]
    for child in children { _ = child.place.observe(\.count) { tally.count &+= 1 } }
    let child = children[0]
    harness.measure("send.child", bar: "<= 60 ns", operations: sends) {
      for _ in 0..<(sends / 100) {
        for _ in 0..<100 { child.send(.incremented) }
        store.deliverChanges()
      }
    }
    precondition(tally.count >= sends / 100, "the observer is called once per batch")
  }
}

private func observedHost(
  _ notification: Store<HostFeature.State, HostFeature.Action>.Notification
) -> (Store<HostFeature.State, HostFeature.Action>, Tally) {
  let store = Store(
    initialState: HostFeature.State(), lane: LoopLane(), notification: notification
  ) { HostFeature() }
  let tally = Tally()
  _ = store.place.child(\.first).observe(\.count) { tally.count &+= 1 }
  return (store, tally)
}
