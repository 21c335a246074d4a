public import Composable
public import RateLimiting
public import ViewGraph

/// What is around a screen in a run: the time that the run moves, the other cores of the device, and things that
/// answer as a scenario says.
///
/// Belongs to the thread that simulates.
public final class SimulatedWorld: @unchecked Sendable {
  /// The seed of the run.
  public let seed: UInt64
  /// How long the run lasts.
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
    /// Those that were cancelled: nobody wanted the answer any more, or nobody would wait longer.
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

  /// Where the store lives, and its effects run unless they say otherwise: the thread of the screen.
  public var lane: any Lane { screenLane }

  /// What evaluations and actions cost moves this clock; for the ``ViewGraph``.
  public var evaluationClock: any EvaluationClock { clock }

  /// Lets costs depend on the sizes of the state from the first frame on, which a screen draws before the run knows it.
  func seeSizes(_ look: @escaping (inout StateSizes) -> Void) { clock.look = look }

  /// Measures effects on the thread of the screen from here on.
  ///
  /// - Parameter spends: whether what they take there passes on the clock of the screen, and what they compute beside it
  ///   occupies another core.
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

  /// The time of the screen's thread.
  public var now: Instant { Instant(nanoseconds: clock.time) }

  /// For the reducers: a clock that the run moves, and identifiers and random numbers that are the same in each
  /// run of the same seed.
  public var dependencies: Dependencies {
    Dependencies(
      clock: SimulatedEffectClock(waits: waits), identifiers: .counting(),
      randomness: .seeded(seed))
  }

  // MARK: Effects

  /// Something that effects wait for: a server, a file, a computation. To be made with the screen, before the
  /// run begins; its name is that of its figures in reports and thresholds.
  ///
  ///     let payment = world.effect("payment", EffectModel(latency: .milliseconds(300), failures: 0.02))
  ///     return Checkout(pay: { try await payment.succeed() })
  public func effect(_ name: String, _ model: EffectModel = EffectModel()) -> SimulatedEffect {
    precondition(!effects.contains { $0.name == name }, "two effects have the name '\(name)'")
    effects.append(Tally(name: name, model: model))
    return SimulatedEffect(world: self, number: effects.count - 1)
  }

  /// Does what the effect of this number waits for. Returns whether it succeeded.
  ///
  /// - Throws: `CancellationError`.
  package func happens(_ effect: Int) async throws -> Bool {
    let (name, model) = (effects[effect].name, effects[effect].model)
    let start = waits.now
    started += 1
    let number = started
    // Drawn before anything is waited for, so that it depends on the order of the requests alone.
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

  /// When the next effect goes on; `nil` if none waits for a time.
  var nextTime: VirtualTime? { waits.nextTime }

  /// Lets the next effect go on, beside the thread.
  func resumeNext() {
    waits.resumeNext()
    pool.run()
  }

  /// Whether effects have something for the thread of the screen.
  var wantsThread: Bool { !screenLane.isIdle }

  /// Sets the time of effects to that of the thread, for reducers that ask for it: to debounce, for instance.
  func beginTurn() { waits.now = VirtualTime(nanoseconds: clock.time) }

  /// Runs what effects have ready for the thread, and what they begin.
  func runEffects() {
    while !screenLane.isIdle || !pool.isIdle {
      waits.now = VirtualTime(nanoseconds: clock.time)
      screenLane.run()
      pool.run()
    }
  }

  /// What became of the effects, in the order in which they were made.
  var reports: [EffectReport] {
    effects.map { tally in
      EffectReport(
        name: tally.name, started: tally.started, failed: tally.failed,
        abandoned: tally.abandoned, answered: Percentiles(tally.answered),
        queued: Percentiles(tally.queued))
    }
  }
}

/// How long something takes that effects wait for, and how often it fails.
public struct EffectModel: Hashable, Sendable {
  /// From the end of the work to the answer, ...
  package var latency = VirtualTime.zero
  /// ... and how much longer at most. Each answer takes a share of its own of this.
  package var spread = VirtualTime.zero
  /// Processor time of the work, on the reference device.
  package var cost = VirtualTime.zero
  /// How many in a thousand are refused.
  package var failures: Int64 = 0
  /// How many in a thousand are never answered.
  package var silence: Int64 = 0

  /// - Parameters:
  ///   - latency: from the end of the work to the answer.
  ///   - spread: how much longer at most. Each answer takes a share of its own of this.
  ///   - cost: processor time of the work, on the reference device. It is spent on the cores that the thread
  ///     of the screen leaves; on a device with one core, while that is idle.
  ///   - failures: the share that fails, from 0 to 1.
  ///   - silence: the share that is never answered.
  public init(
    latency: Duration = .zero, spread: Duration = .zero, cost: Duration = .zero,
    failures: Double = 0, silence: Double = 0
  ) {
    precondition(failures >= 0 && silence >= 0 && failures + silence <= 1, "shares are up to 1")
    self.latency = VirtualTime(latency)
    self.spread = VirtualTime(spread)
    self.cost = VirtualTime(cost)
    self.failures = Int64((failures * 1_000).rounded())
    self.silence = Int64((silence * 1_000).rounded())
  }
}

/// Something that effects of a simulated screen wait for; see ``SimulatedWorld/effect(_:_:)``.
public struct SimulatedEffect: Sendable {
  let world: SimulatedWorld
  package let number: Int

  /// Waits as long as the model says. Returns whether it succeeded.
  ///
  /// - Throws: `CancellationError`.
  public func perform() async throws -> Bool {
    try await withTaskExecutorPreference(world.pool) { try await world.happens(number) }
  }

  /// Waits as long as the model says.
  ///
  /// - Throws: `CancellationError`; ``SimulatedFailure`` as often as the model says.
  public func succeed() async throws { try await succeed {} }

  /// Waits as long as the model says, and then does `work`, beside the thread of the screen and at no further cost.
  ///
  /// - Throws: `CancellationError`; ``SimulatedFailure`` as often as the model says; what `work` throws.
  public func succeed<Result: Sendable>(
    _ work: @Sendable () async throws -> Result
  ) async throws -> Result {
    try await withTaskExecutorPreference(world.pool) {
      guard try await world.happens(number) else { throw SimulatedFailure() }
      return try await work()
    }
  }
}

/// What failed because its model says so.
public struct SimulatedFailure: Error, CustomStringConvertible {
  /// Why it failed.
  public var description: String { "failed, as the scenario has it" }
}
