import Analysis
import BenchmarkKit
import Composable
import ComposableBenchmarks
import Foundation
import Synchronization

/// Collects delays. May be used from any thread.
final class Probe: Sendable {
  private struct Contents {
    var start: UInt64 = 0
    var latencies: [UInt64] = []
    var chatLatencies: [UInt64] = []
    var effectStarts: [UInt64] = []
  }

  private let contents = Mutex(Contents())

  func begin(at start: UInt64) { contents.withLock { $0.start = start } }

  /// Returns the slider value that encodes the millisecond in which the event is due.
  static func value(of millisecond: Int) -> Double { Double(millisecond + 1) / 1e6 }

  /// Records that the event with this slider value was applied.
  func applied(_ value: Double) {
    let now = Harness.now()
    contents.withLock { contents in
      let due = contents.start + UInt64((value * 1e6).rounded() - 1) * 1_000_000
      contents.latencies.append(now - min(now, due))
    }
  }

  /// Records that messages due at `due` were applied and drawn.
  func drawn(due: UInt64, frame: UInt64) {
    let now = Harness.now()
    contents.withLock { $0.chatLatencies.append(now - min(now, due + frame)) }
  }

  /// Records that an effect due at `due` has begun.
  func began(due: UInt64) {
    let now = Harness.now()
    contents.withLock { $0.effectStarts.append(now - min(now, due)) }
  }

  var effectCount: Int { contents.withLock { $0.effectStarts.count } }

  var figures: ExecutorLoad.Figures {
    contents.withLock { contents in
      ExecutorLoad.Figures(
        latency: Self.percentile99(contents.latencies),
        chatLatency: Self.percentile99(contents.chatLatencies),
        effectStart: Self.percentile99(contents.effectStarts))
    }
  }

  /// In milliseconds.
  private static func percentile99(_ nanoseconds: [UInt64]) -> Double {
    let sorted = nanoseconds.sorted()
    guard !sorted.isEmpty else { return .nan }
    return Double(sorted[min(sorted.count - 1, sorted.count * 99 / 100)]) / 1e6
  }
}

/// Goes up once.
final class Flag: Sendable {
  private let state = Atomic<Bool>(false)
  var isRaised: Bool { state.load(ordering: .relaxed) }
  func raise() { state.store(true, ordering: .relaxed) }
}

/// Starts an effect on the shared pool every two milliseconds.
struct EffectProbe {
  private let probe: Probe

  init(_ probe: Probe) { self.probe = probe }

  /// Waits until all effects have begun.
  func ask(for milliseconds: Int, from start: UInt64) {
    let lane = LoopLane()
    let probe = probe
    let store = Store(initialState: StartingFeature.State(), lane: lane) {
      StartingFeature { probe.began(due: $0) }
    }
    let count = milliseconds / 2
    for number in 0..<count {
      let due = start + UInt64(number) * 2_000_000
      Harness.wait(until: due)
      store.send(.asked(at: Harness.now()))
    }
    while probe.effectCount < count { Harness.wait(until: Harness.now() + 1_000_000) }
  }
}

/// Answers an action with an effect on the shared pool.
@Reducer
struct StartingFeature {
  @ObservableState
  struct State: Equatable, Sendable {}

  enum Action: Equatable, Sendable {
    case asked(at: UInt64)
  }

  let began: @Sendable (UInt64) -> Void

  func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .asked(let time):
      let began = began
      return .run(name: "start", onLane: false) { _ in began(time) }
    }
  }
}

/// Runs an analysis inside a reducer, where it blocks the lane.
@Reducer
struct AnalysisFeature {
  @ObservableState
  struct State: Equatable, Sendable {
    var analyses = 0
  }

  enum Action: Sendable {
    case asked(AnalysisKind, [WrittenMessage])
  }

  func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .asked(let kind, let messages):
      // Blocks this thread until the analysis ends.
      let here = LoopLane()
      let isDone = Flag()
      Task(executorPreference: here) {
        try await ExecutorLoad.analyze(kind, messages, slice: .max)
        isDone.raise()
      }
      here.run { isDone.isRaised }
      state.analyses += 1
      return .none
    }
  }

  /// Sends one action to a new store.
  static func reduce(_ kind: AnalysisKind, _ messages: [WrittenMessage]) {
    Store(initialState: State(), lane: LoopLane()) { AnalysisFeature() }
      .send(.asked(kind, messages))
  }
}
