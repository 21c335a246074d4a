import BenchmarkHost
import BenchmarkKit
import Composable

/// Measures the cost of answering an action with an effect.
func effectBenchmarks(_ harness: Harness) {
  let lane = LoopLane()
  let store = Store(initialState: EchoFeature.State(), lane: lane) { EchoFeature() }

  let sends = 50_000
  harness.measure("effect.send", bar: "<= 15 x floor", operations: sends) {
    for _ in 0..<sends { store.send(.called) }
  }

  let runs = 2_000
  let tally = Tally()
  nonisolated(unsafe) let bare = tally
  harness.measure("task.bare", bar: "the floor of effect.run", operations: runs) {
    for number in 1...runs {
      Task(executorPreference: lane) { lane.execute { bare.count &+= 1 } }
      let target = (tally.count / runs) * runs + number
      lane.run { tally.count >= target }
    }
  }
  harness.measure("effect.run", bar: "<= 1.5 x task.bare", operations: runs) {
    for _ in 0..<runs {
      let answers = store.state.answers
      store.send(.asked)
      lane.run { store.state.answers > answers && store.runningEffects == 0 }
    }
  }

  let outstanding = 1_000
  harness.measure("effect.run.1000", bar: "<= 2 us", operations: outstanding) {
    let answers = store.state.answers
    for _ in 0..<outstanding { store.send(.askedPool) }
    lane.run { store.state.answers == answers + outstanding && store.runningEffects == 0 }
  }
}
