public import Composable
public import RateLimiting
public import ViewGraph

/// The environment of a screen in a run: the virtual time, the other cores of the device, and the
/// services that answer according to a scenario. Belongs to the simulating thread.
public final class SimulatedWorld: @unchecked Sendable {
  /// The seed of the run.
  public let seed: UInt64
  /// The duration of the run.
  public let duration: VirtualTime
  /// The refresh rate of the device.
  public let framesPerSecond: Int
  /// A factor for the rates of generated events, in millionths.
  package let load: Int64
  package let pool = SimulationLane()
  private let screenLane: SimulationLane
  private let clock: SimulatedClock
  private let slowdown: Int64
  private let trace: TraceRecorder?
  private let waits = SimulatedWaits()
  private let cores: SimulatedCores
  private var random: SeededGenerator
  private var effects: [Tally] = []
  private var started = 0

  private struct Tally {
    let name: String
    let model: EffectModel
    var started = 0
    var failed = 0
    /// The effects that were cancelled, either because the result was no longer needed or because
    /// the caller stopped waiting.
    var abandoned = 0
    var answered = DurationHistogram()
    var queued = DurationHistogram()
  }

  init(
    _ device: Device, seed: UInt64, duration: VirtualTime, framesPerSecond: Int, load: Int64,
    clock: SimulatedClock, trace: TraceRecorder?
  ) {
    self.seed = seed
    self.duration = duration
    self.framesPerSecond = framesPerSecond
    self.load = load
    self.clock = clock
    self.trace = trace
    screenLane = SimulationLane(pool: pool)
    slowdown = device.slowdown
    cores = SimulatedCores(device.profile.cores, waits) { [clock] in
      VirtualTime(nanoseconds: clock.time)
    }
    random = SeededGenerator(seed: seed, stream: 2)
  }

  /// The lane of the store: the screen's thread, on which effects run by default.
  public var lane: any Lane { screenLane }

  /// The clock that the costs of evaluations and actions advance. Pass it to the ``ViewGraph``.
  public var evaluationClock: any EvaluationClock { clock }

  /// Lets costs depend on the sizes of the state. Called early enough to include the first frame,
  /// which is drawn before the run receives the screen.
  func observeSizes(_ look: @escaping (inout StateSizes) -> Void) { clock.look = look }

  /// Starts measuring the time for which effects hold the screen's thread. With `spends`, the
  /// measured time advances the screen's clock, and computation outside the lane occupies another
  /// core.
  func measureEffects(with meter: EffectMeter, spending spends: Bool) {
    screenLane.measure(with: meter)
    guard spends else { return }
    meter.onPart = { [clock] in clock.spend(measured: $0) }
    let beside = EffectMeter()
    beside.onPart = { [cores, clock] in
      cores.occupy(VirtualTime(nanoseconds: clock.scaled($0)))
    }
    pool.measure(with: beside)
  }

  /// The current time of the screen's thread.
  public var now: Instant { Instant(nanoseconds: clock.time) }

  /// The dependencies for reducers: a clock that the run advances, and identifiers and random
  /// numbers that are the same in each run of a seed.
  public var dependencies: Dependencies {
    Dependencies(
      clock: SimulatedEffectClock(waits: waits), identifiers: .counting(),
      randomness: .seeded(seed))
  }

  // MARK: Effects

  /// Adds something that effects wait for, such as a server, a file, or a computation. Must be
  /// called while the screen is created, before the run begins. The name identifies the effect's
  /// figures in reports and thresholds.
  ///
  ///     let payment = world.effect("payment", EffectModel(latency: .milliseconds(300), failures: 0.02))
  ///     return Checkout(pay: { try await payment.succeed() })
  public func effect(_ name: String, _ model: EffectModel = EffectModel()) -> SimulatedEffect {
    precondition(!effects.contains { $0.name == name }, "the effect name '\(name)' is used twice")
    effects.append(Tally(name: name, model: model))
    return SimulatedEffect(world: self, number: effects.count - 1)
  }

  /// Simulates the wait of the effect with this number, and returns whether the effect succeeded.
  /// Throws `CancellationError` if the task is cancelled.
  package func perform(effect: Int) async throws -> Bool {
    let (name, model) = (effects[effect].name, effects[effect].model)
    let start = waits.now
    started += 1
    let number = started
    // Drawn before any suspension, so that the random numbers depend only on the order in which
    // effects start.
    let (fate, share) = (random.integer(in: 0...999), random.integer(in: 0...1_000))
    effects[effect].started += 1
    do {
      let cost = Int128(model.cost.nanoseconds) * Int128(slowdown) / 1_000_000
      try await cores.compute(VirtualTime(nanoseconds: Int64(clamping: cost))) { delay in
        effects[effect].queued.add(delay.nanoseconds)
      }
      let isSilent = fate >= 1_000 - Int(model.silence)
      let spread = model.spread.nanoseconds / 1_000 * Int64(share)
      try await waits.wait(
        until: isSilent ? nil : waits.now + model.latency + VirtualTime(nanoseconds: spread))
    } catch {
      effects[effect].abandoned += 1
      trace?.effect(name, number, start.nanoseconds, waits.now.nanoseconds, "abandoned")
      throw error
    }
    let hasFailed = fate < model.failures
    if hasFailed { effects[effect].failed += 1 }
    effects[effect].answered.add((waits.now - start).nanoseconds)
    trace?.effect(
      name, number, start.nanoseconds, waits.now.nanoseconds, hasFailed ? "failed" : "succeeded")
    return !hasFailed
  }

  // MARK: The run

  /// The time at which the next effect resumes; `nil` if none waits for a time.
  var nextTime: VirtualTime? { waits.nextTime }

  /// Resumes the next effect, outside the screen's thread.
  func resumeNext() {
    waits.resumeNext()
    pool.run()
  }

  /// Whether effects have scheduled work on the screen's thread.
  var wantsThread: Bool { !screenLane.isIdle }

  /// Sets the time of effects to the thread's time, because reducers read it, for example to
  /// debounce.
  func beginTurn() { waits.now = VirtualTime(nanoseconds: clock.time) }

  /// Runs the work that effects have scheduled on the thread, and the work that follows from it.
  func runEffects() {
    while !screenLane.isIdle || !pool.isIdle {
      waits.now = VirtualTime(nanoseconds: clock.time)
      screenLane.run()
      pool.run()
    }
  }

  /// The reports of all effects, in the order of their creation.
  var reports: [EffectReport] {
    effects.map { tally in
      EffectReport(
        name: tally.name, started: tally.started, failed: tally.failed,
        abandoned: tally.abandoned, answered: Percentiles(tally.answered),
        queued: Percentiles(tally.queued))
    }
  }
}

/// The duration and failure rate of something that effects wait for.
public struct EffectModel: Hashable, Sendable {
  /// The time from the end of the work to the answer.
  package var latency = VirtualTime.zero
  /// The maximum additional latency, of which each answer adds a random share.
  package var spread = VirtualTime.zero
  /// The processor time of the work, on the reference device.
  package var cost = VirtualTime.zero
  /// The number of failures per thousand.
  package var failures: Int64 = 0
  /// The number of requests per thousand that are never answered.
  package var silence: Int64 = 0

  /// Creates a model of a service.
  ///
  /// - Parameters:
  ///   - latency: The time from the end of the work to the answer.
  ///   - spread: The maximum additional latency, of which each answer adds a random share.
  ///   - cost: The processor time of the work, on the reference device, spent on the cores that the
  ///     screen's thread does not use; on a device with one core, while the thread is idle.
  ///   - failures: The share that fails, from 0 to 1.
  ///   - silence: The share that is never answered, from 0 to 1.
  public init(
    latency: Duration = .zero, spread: Duration = .zero, cost: Duration = .zero,
    failures: Double = 0, silence: Double = 0
  ) {
    precondition(failures >= 0 && silence >= 0 && failures + silence <= 1, "shares must be 0 to 1")
    self.latency = VirtualTime(latency)
    self.spread = VirtualTime(spread)
    self.cost = VirtualTime(cost)
    self.failures = Int64((failures * 1_000).rounded())
    self.silence = Int64((silence * 1_000).rounded())
  }
}

/// A service that effects of a simulated screen wait for; see ``SimulatedWorld/effect(_:_:)``.
public struct SimulatedEffect: Sendable {
  let world: SimulatedWorld
  package let number: Int

  /// Waits for the duration of the model. Returns whether it succeeded.
  ///
  /// - Throws: `CancellationError`.
  public func perform() async throws -> Bool {
    try await withTaskExecutorPreference(world.pool) { try await world.perform(effect: number) }
  }

  /// Waits for the duration of the model.
  ///
  /// - Throws: `CancellationError`; ``SimulatedFailure`` if the model fails.
  public func succeed() async throws { try await succeed {} }

  /// Waits for the duration of the model, and then runs `work` outside the screen's thread, at no
  /// further cost.
  ///
  /// - Throws: `CancellationError`; ``SimulatedFailure`` if the model fails; the errors of `work`.
  public func succeed<Result: Sendable>(
    _ work: @Sendable () async throws -> Result
  ) async throws -> Result {
    try await withTaskExecutorPreference(world.pool) {
      guard try await world.perform(effect: number) else { throw SimulatedFailure() }
      return try await work()
    }
  }
}

/// A failure caused by an ``EffectModel``.
public struct SimulatedFailure: Error, CustomStringConvertible {
  /// The reason of the failure.
  public var description: String { "failed as configured in the scenario" }
}
