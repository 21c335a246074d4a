import CSimulatedMachine
import ControlInterface
import FileSystem
import Ingest
import Intake
import JSON
import LiveEvents
import LivehostDaemon
import Logging
import Platform
import RateLimiting
import Recordings
import SimulatedDisk
import TestSupport

/// One daemon, its clients and its disk, through the lives of a plan.
final class Simulation: @unchecked Sendable {
  let trace: Trace
  var model = Model()
  var violation: Model.Violation?
  // What happened, for counting it.
  private(set) var operations: [String: Int] = [:]
  private(set) var ends: [Plan.End: Int] = [:]
  private(set) var paths: [Path: Int] = [:]
  /// Whether the daemon runs. Once it does not, nobody hears from it.
  var isAlive = false
  /// Whether it takes connections, and lines of more than what is being read.
  private(set) var isServing = false
  /// Counts the runs of the daemon.
  private(set) var life = 0
  let plan: Plan
  let machine: Machine
  let disk: SimulatedDisk
  var random: SplitMix64
  var daemon: SimulatedDaemon?
  var clients: [Int: Client] = [:]
  var clientCount = 0
  /// Faults of calls that are to come.
  var faults: [(fault: DiskFault, calls: Plan.Calls, left: Int, until: UInt64)] = []
  var crashOfStart: (call: Int, fault: DiskFault)?
  /// Whether a call of this life has failed. An answer to a call of the host does not say whether it is kept.
  var hasFailed = false
  var hasEverFailed = false
  /// The recordings to which a call failed: they may lack what the log has.
  var failedRecordings: Set<String> = []
  /// The files in which bits have changed.
  var spoiledFiles: Set<String> = []
  var monitors: [Int: Monitor] = [:]
  /// What the journal of this life says.
  var journal: [String] = []
  var witness = Witness()
  /// Whether the disk has lied since the power failed for the last time.
  var hasLied = false
  /// Whether the power is failing.
  var isLosing = false
  /// Whether calls that do not return still do not.
  var isHanging = false
  var hangs = 0
  /// Syncs that are never done, though all believe that they are: a bug planted on purpose.
  let omitted: Omission?

  /// Where the disk is copied to before each start.
  var dump: String?

  init(_ plan: Plan, trace: Trace, omitting omitted: Omission? = nil) {
    self.plan = plan
    self.omitted = omitted
    self.trace = trace
    machine = Machine(seed: plan.seed &* 3)
    Machine.current = machine
    random = SplitMix64(seed: plan.seed &* 5)
    // Each simulation begins at its own time, so that nothing depends on those before it.
    machine_start(Self.start, 1_800_000_000_000_000_000)
    machine_set_cost_of_reading(plan.costOfReading)
    disk = SimulatedDisk(seed: plan.seed &* 7, pageBytes: plan.pageBytes) { nanoseconds in
      if machine_is_thread() { machine_pause(nanoseconds) }
    }
  }

  /// How long it took, in nanoseconds of its time.
  var duration: UInt64 { machine.now - Self.start }

  private static let start: UInt64 = 1_000_000_000

  func expect(_ invariant: Model.Invariant, _ holds: Bool, _ detail: @autoclosure () -> String) {
    do throws(Model.Violation) { try model.expect(invariant, holds, detail()) } catch {
      fail(error)
    }
  }

  func fail(_ error: Model.Violation) {
    if violation == nil {
      violation = error
      trace.add("VIOLATION: \(error.invariant.rawValue): \(error.detail)")
    }
  }

  /// Whether valid lines may be rejected: rooms are closed, by the host or by the daemon's stop.
  var mayRefuse: Bool { !isServing || model.rooms.values.contains { $0.closed + $0.closings > 0 } }

  func count(_ operation: String) { operations[operation, default: 0] += 1 }
  func count(_ path: Path) { paths[path, default: 0] += 1 }

  /// Nothing of what clients sent is dropped, so that all of it can be checked.
  var settings: RoomSettings {
    var settings = RoomSettings()
    settings.chatHistory = 1_000_000
    settings.reportedMessages = 1_000_000
    // In two of three simulations idle rooms are packed, in one as soon as they can be.
    settings.packsAfter = [nil, .milliseconds(1), .seconds(3)][Int(plan.seed % 3)]
    return settings
  }

  /// In the clients' time stamps, in milliseconds since 1970.
  var time: Int { 1_800_000_000_000 + Int(machine.now / 1_000_000) }

  // MARK: Lives

  func run() {
    // Which refers to this simulation.
    defer { disk.decide { _ in nil } }
    do throws(SystemError) {
      try disk.makeDirectory(SimulatedDaemon.directory)
      try disk.syncDirectory("/")
    } catch {
      return
    }
    for life in plan.lives where violation == nil { live(life) }
    guard violation == nil else { return }
    // The last one is without faults: all must be there, and everything must work.
    start()
    connect()
    for (number, room) in rooms.enumerated() {
      watch(number, room, rate: number == 0 ? nil : 10)
    }
    settle()
    for room in rooms { checkRoom(room) }
    checkRecordings(replays: true)
    end(.stop)
    start()
    end(.stop)
  }

  private func live(_ life: Plan.Life) {
    spoil(life.rottenBits, at: life.rot)
    crashOfStart = life.crashOfStart
    while !start(), violation == nil { crashOfStart = nil }
    crashOfStart = nil
    guard violation == nil else { return end(.kill) }
    connect()
    let (start, number) = (machine.now, self.life)
    for operation in life.operations {
      machine.at(start + operation.at) { [self] in
        if isServing, self.life == number { perform(operation.kind) }
      }
    }
    machine.run(until: start + life.nanoseconds) { !isAlive || violation != nil }
    if isAlive, life.settles {
      for room in rooms { checkRoom(room) }
      connect()
      settle()
    }
    if isAlive, let calls = life.crashCalls, let crash = life.end.crash {
      faults = [(crash, calls, 0, 0)]
      machine.run(until: machine.now + 1_000_000_000) { !isAlive || violation != nil }
    }
    end(life.end)
  }

  /// Starts the daemon; `false` if it did not come to the end of that.
  @discardableResult
  private func start() -> Bool {
    isAlive = true
    life += 1
    hasFailed = false
    trace.add("livehostd starts")
    for room in rooms {
      let file = "\(SimulatedDaemon.directory)/rooms/\(room).json"
      if disk.contents(of: file) == nil, disk.contents(of: file + ".previous") != nil {
        count(.missingSnapshot)
      }
    }
    copyDisk()
    decide()
    do {
      var recording = RecordingSettings()
      recording.disk = disk
      recording.cataloguePath = ":memory:"
      recording.segmentBytes = plan.segmentBytes
      var ingest = IngestConfiguration()
      ingest.maximumConnections = plan.clients + 1
      ingest.maximumOutstandingBytes = plan.ingestBytes
      ingest.sharedBytes = plan.ingestBytes
      daemon = try SimulatedDaemon(
        on: machine, disk: disk, lanes: plan.lanes, settings: settings, recording: recording,
        ingest: ingest,
        // In half of the simulations a stop writes no snapshot where the log is enough.
        mostSnapshotsWaiting: plan.seed.isMultiple(of: 2) ? 0 : 256,
        logger: Logger(label: "simulation") { _ in TracingLogHandler(simulation: self) })
    } catch {
      fatalError("\(error)")
    }
    guard finish("the start", { [daemon] in try? await daemon?.start() }) != nil else {
      end(.kill)
      return false
    }
    // What was received and held is applied by the next frames.
    machine.run(until: machine.now + 2_000_000_000) { !isAlive }
    guard isAlive else {
      end(.kill)
      return false
    }
    for path in witness.spoiled {
      expect(.told, Witness.isTold(path, in: journal), "nothing is said about \(path)")
    }
    if plan.misfortunes.isDisjoint(with: [.lies, .rot]), omitted == nil {
      for line in journal {
        expect(.noFalseAlarm, !isFalseAlarm(line), line)
      }
    }
    witness.forget()
    journal = []
    checkRooms()
    checkRecordings(replays: false)
    isServing = true
    return true
  }

  /// Whether a line of the journal tells about damage for which there is no cause.
  private func isFalseAlarm(_ line: String) -> Bool {
    Path.told(by: line).contains(where: \.isDamage)
  }

  /// Ends the life, unless it has ended, and frees the daemon.
  private func end(_ end: Plan.End) {
    isServing = false
    if isAlive {
      trace.add("livehostd ends: \(end.rawValue)")
      ends[end, default: 0] += 1
      isHanging = false
      switch end {
      case .kill: disk.endProcess()
      case .powerLoss:
        willLosePower()
        disk.losePower()
      case .stop: finish("the stop") { [daemon] in await daemon?.stop() }
      }
      isAlive = false
    }
    faults = []
    isHanging = false
    for monitor in monitors.values { monitor.abandon() }
    monitors = [:]
    model.end(hasFailed: hasFailed)
    noteLoss()
    // What a process leaves behind is the kernel's to free; here it has to run to its end. The disk is gone by
    // then, and nobody listens.
    if end != .stop || disk.hasEnded {
      disk.endProcess()
      let task = Running { [daemon] in await daemon?.stop() }
      machine.run(until: machine.now + 600_000_000_000) { task.result != nil }
      if task.result == nil {
        fatalError("seed \(plan.seed): the daemon does not end without a disk")
      }
    }
    machine.run { machine_thread_count() == 0 }
    daemon?.release()
    daemon = nil
    clients = [:]
    while machine.step(until: machine.now) {}
    disk.restart()
  }

  /// Runs a task to its end, which must come within some minutes; `nil` if that of the daemon comes first.
  @discardableResult
  func finish<R: Sendable>(
    _ what: String, _ body: @escaping @Sendable () async -> R
  ) -> R? {
    let task = Running(body)
    let end = machine.now + 600_000_000_000
    machine.run(until: end) { task.result != nil || !isAlive || violation != nil }
    if isAlive, violation == nil {
      expect(.progress, task.result != nil, "\(what) has not ended after 600 s")
    }
    return isAlive ? task.result : nil
  }
}

/// A task, and its result once it has ended.
private final class Running<R: Sendable>: @unchecked Sendable {
  private(set) var result: R?

  init(_ body: @escaping @Sendable () async -> R) {
    Task { result = await body() }
  }
}

/// Writes the journal into the trace.
private struct TracingLogHandler: LogHandler {
  let simulation: Simulation
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.info

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    guard simulation.isAlive else { return }
    let line = "\(event.message)"
    simulation.trace.add("journal: \(line)")
    simulation.journal.append(line)
    for path in Path.told(by: line) { simulation.count(path) }
    if line.hasPrefix("recording of room"), let room = event.metadata?["room"] {
      simulation.recordingFailed("\(room)")
    }
  }
}
