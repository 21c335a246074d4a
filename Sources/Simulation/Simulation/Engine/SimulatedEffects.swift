import Analysis
import ChatFeature
import Composable
import ControlFeature
import HostFeature
import LiveEvents
import RecorderFeature

/// What the effects of a simulated screen find outside it: a world that answers as the scenario says.
///
/// Belongs to the thread that simulates.
final class SimulatedEffects: @unchecked Sendable {
  private let models: [EffectKind: EffectModel]
  private let slowdown: Int64
  private let seed: UInt64
  private let trace: TraceRecorder?
  /// Where the world goes on while the thread of the screen is busy.
  private let pool: SimulationLane
  private let waits = SimulatedWaits()
  private let cores: SimulatedCores
  private var random: SeededGenerator
  private var tallies: [EffectKind: Tally] = [:]
  private var started = 0

  private struct Tally {
    var started = 0
    var failed = 0
    /// Those that were cancelled: nobody wanted the answer any more, or nobody would wait longer.
    var abandoned = 0
    var answered = DurationHistogram()
    var queued = DurationHistogram()
  }

  /// - Parameter screenIsFree: until when the thread of the screen is known to work.
  init(
    _ scenario: Scenario, _ device: Device, on pool: SimulationLane, trace: TraceRecorder?,
    screenIsFree: @escaping () -> VirtualTime
  ) {
    models = scenario.effects
    slowdown = device.slowdown
    seed = scenario.seed
    self.trace = trace
    self.pool = pool
    cores = SimulatedCores(device.profile.cores, waits, screenIsFree: screenIsFree)
    random = SeededGenerator(seed: scenario.seed, stream: 2)
  }

  /// What the reducers of the screen get.
  var dependencies: Dependencies {
    var dependencies = Dependencies(
      clock: SimulatedEffectClock(waits: waits), identifiers: .counting(),
      randomness: .seeded(seed))
    if let model = models[.surface] {
      dependencies[ControlSurface.self] = ControlSurface(
        patience: { .nanoseconds(model.timeout.nanoseconds) }
      ) { [self] _ in
        try await withTaskExecutorPreference(pool) { try await self.happens(.surface) }
          ? .confirmed : .refused(reason: "refused, as the scenario has it")
      }
    }
    if analysesChat {
      let finders = KeptFinders()
      dependencies[ChatAnalysis.self] = ChatAnalysis { [self] search in
        try await withTaskExecutorPreference(pool) {
          try await self.succeeds(.analysis)
          // What it costs is what the scenario says.
          return try await finders.find(search, sliceNanoseconds: .max)
        }
      }
    }
    if models[.recorder] != nil {
      let attempt: @Sendable () async throws -> Void = { [self] in
        try await withTaskExecutorPreference(pool) { try await self.succeeds(.recorder) }
      }
      dependencies[Recorder.self] = Recorder(
        start: { number in
          try await attempt()
          return "recording-\(number)"
        },
        stop: { _ in
          try await attempt()
          return nil
        }, pause: { _ in try await attempt() }, resume: { _ in try await attempt() })
    }
    return dependencies
  }

  /// Whether the running chat is searched.
  var analysesChat: Bool { models[.analysis] != nil }

  /// What tells the screen at its beginning who is there, and what is wanted.
  var firstInputs: [EffectInput] {
    var inputs: [EffectInput] = []
    if models[.surface] != nil {
      inputs.append(.event(.control(.surface(.began(surface: 1, controls: nil)))))
    }
    if models[.recorder] != nil { inputs.append(.recorder(.wished(wish: .start, retries: true))) }
    return inputs
  }

  private struct Failure: Error, CustomStringConvertible {
    var description: String { "failed, as the scenario has it" }
  }

  private func succeeds(_ kind: EffectKind) async throws {
    guard try await happens(kind) else { throw Failure() }
  }

  /// Does what an effect of this kind waits for. Returns whether it succeeded.
  ///
  /// - Throws: `CancellationError`.
  private func happens(_ kind: EffectKind) async throws -> Bool {
    let model = models[kind] ?? EffectModel()
    let start = waits.now
    started += 1
    let number = started
    // Drawn before anything is waited for, so that it depends on the order of the requests alone.
    let (fate, share) = (random.integer(in: 0...999), random.integer(in: 0...1_000))
    tallies[kind, default: Tally()].started += 1
    do {
      let cost = Int128(model.cost.nanoseconds) * Int128(slowdown) / 1_000_000
      try await cores.compute(VirtualTime(nanoseconds: Int64(clamping: cost))) { delay in
        tallies[kind]?.queued.add(delay.nanoseconds)
      }
      let isSilent = fate >= 1_000 - Int(model.silence)
      let spread = model.spread.nanoseconds / 1_000 * Int64(share)
      try await waits.wait(
        until: isSilent ? nil : waits.now + model.latency + VirtualTime(nanoseconds: spread))
    } catch {
      tallies[kind]?.abandoned += 1
      trace?.effect(kind.rawValue, number, start.nanoseconds, waits.now.nanoseconds, "abandoned")
      throw error
    }
    let hasFailed = fate < model.failures
    if hasFailed { tallies[kind]?.failed += 1 }
    tallies[kind]?.answered.add((waits.now - start).nanoseconds)
    trace?.effect(
      kind.rawValue, number, start.nanoseconds, waits.now.nanoseconds,
      hasFailed ? "failed" : "succeeded")
    return !hasFailed
  }

  // MARK: Time

  /// When the next effect goes on; `nil` if none waits for a time.
  var nextTime: VirtualTime? { waits.nextTime }

  /// Lets the next effect go on.
  func resumeNext() { waits.resumeNext() }

  /// Notes the time of what runs next.
  func pass(to time: VirtualTime) { waits.now = time }

  /// What became of the effects, in the order of ``EffectKind``.
  var reports: [EffectReport] {
    EffectKind.allCases.compactMap { kind in
      guard models[kind] != nil else { return nil }
      let tally = tallies[kind] ?? Tally()
      return EffectReport(
        name: kind.rawValue, started: tally.started, failed: tally.failed,
        abandoned: tally.abandoned, answered: Percentiles(tally.answered),
        queued: Percentiles(tally.queued))
    }
  }
}
