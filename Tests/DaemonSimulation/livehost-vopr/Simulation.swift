import CSimulatedMachine
import ControlInterface
import FileSystem
import Ingest
import JSON
import LiveEvents
import Logging
import RateLimiting
import Recordings
import Rooms
import SimulatedDisk
import SystemSupport
import TestSupport
import Throttling

/// Runs a daemon, its clients and its disk through the lives of a plan.
final class Simulation: @unchecked Sendable {
  let trace: Trace
  var model = Model()
  var violation: Model.Violation?
  // Counters of the events in this simulation.
  private(set) var operations: [String: Int] = [:]
  private(set) var ends: [Plan.End: Int] = [:]
  private(set) var paths: [Path: Int] = [:]
  /// Whether the daemon runs. After the daemon's end, its output is ignored.
  var isAlive = false
  /// Whether the daemon accepts connections and reads further lines.
  private(set) var isServing = false
  /// The number of runs of the daemon so far.
  private(set) var life = 0
  let plan: Plan
  let machine: Machine
  let disk: SimulatedDisk
  var random: SplitMix64
  var daemon: SimulatedDaemon?
  var clients: [Int: Client] = [:]
  var clientCount = 0
  /// The faults to inject into later calls.
  var faults: [(fault: DiskFault, calls: Plan.Calls, left: Int, until: UInt64)] = []
  var crashOfStart: (call: Int, fault: DiskFault)?
  /// Whether a call to the disk failed in this life. After that, an answer to the host's call does
  /// not prove that its effect is saved.
  var hasFailed = false
  var hasEverFailed = false
  /// The recordings with a failed call to the disk. These recordings may lack messages that the log
  /// has.
  var failedRecordings: Set<String> = []
  /// The files with flipped bits.
  var spoiledFiles: Set<String> = []
  var monitors: [Int: Monitor] = [:]
  /// The journal entries of this life.
  var journal: [String] = []
  var witness = Witness()
  /// Whether, since the last power failure, the disk has reported a sync that it did not perform.
  var hasLied = false
  /// Whether a power failure is in progress.
  var isLosing = false
  /// Whether hanging calls still hang.
  var isHanging = false
  var hangs = 0
  /// Syncs that are silently dropped: a deliberately planted bug.
  let omitted: Omission?

  /// The directory to which the disk is copied before each start.
  var dump: String?

  init(_ plan: Plan, trace: Trace, omitting omitted: Omission? = nil) {
    self.plan = plan
    self.omitted = omitted
    self.trace = trace
    machine = Machine(seed: plan.seed &* 3)
    Machine.current = machine
    random = SplitMix64(seed: plan.seed &* 5)
    // Each simulation resets the time, so that it does not depend on earlier simulations in the
    // process.
    machine_start(Self.start, 1_800_000_000_000_000_000)
    machine_set_cost_of_reading(plan.costOfReading)
    disk = SimulatedDisk(seed: plan.seed &* 7, pageBytes: plan.pageBytes) { nanoseconds in
      if machine_is_thread() { machine_pause(nanoseconds) }
    }
  }

  /// The simulated duration in nanoseconds.
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

  /// Whether valid lines may be rejected, because the host or the daemon's stop closes rooms.
  var mayRefuse: Bool { !isServing || model.rooms.values.contains { $0.closed + $0.closings > 0 } }

  func count(_ operation: String) { operations[operation, default: 0] += 1 }
  func count(_ path: Path) { paths[path, default: 0] += 1 }

  /// The settings of rooms. The limit is so high that no message is dropped and all messages can be
  /// checked.
  var settings: RoomSettings {
    var settings = RoomSettings()
    settings.chatHistory = 1_000_000
    settings.reportedMessages = 1_000_000
    // In two of three simulations idle rooms hibernate. In one of the two, they hibernate as early
    // as possible.
    settings.hibernatesAfter = [nil, .milliseconds(1), .seconds(3)][Int(plan.seed % 3)]
    return settings
  }

  /// The current time that clients write into time stamps, in milliseconds since 1970.
  var time: Int { 1_800_000_000_000 + Int(machine.now / 1_000_000) }

  // MARK: Lives

  func run() {
    // Releases the closure, which refers to this simulation.
    defer { disk.decide { _ in nil } }
    do throws(SystemError) {
      try disk.makeDirectory(SimulatedDaemon.directory)
      try disk.syncDirectory("/")
    } catch {
      return
    }
    for life in plan.lives where violation == nil { live(life) }
    guard violation == nil else { return }
    // The last life has no faults: all data must exist and everything must work.
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

  /// Starts the daemon. Returns false if the daemon ended during the start.
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
        // In half of the simulations, a stop writes no snapshot of a room whose log suffices.
        mostSnapshotsWaiting: plan.seed.isMultiple(of: 2) ? 0 : 256,
        logger: Logger(label: "simulation") { _ in TracingLogHandler(simulation: self) })
    } catch {
      fatalError("\(error)")
    }
    guard finish("the start", { [daemon] in try? await daemon?.start() }) != nil else {
      end(.kill)
      return false
    }
    // The next frames apply all received and throttled events.
    machine.run(until: machine.now + 2_000_000_000) { !isAlive }
    guard isAlive else {
      end(.kill)
      return false
    }
    for path in witness.spoiled {
      expect(.told, Witness.isTold(path, in: journal), "no journal entry reports \(path)")
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

  /// Whether a line of the journal reports damage without a cause.
  private func isFalseAlarm(_ line: String) -> Bool {
    Path.told(by: line).contains(where: \.isDamage)
  }

  /// Ends the life if it has not ended yet, and frees the daemon.
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
    // The kernel frees the resources of a real process. In the simulation, the daemon's threads
    // must run to their end, without a disk and without clients.
    if end != .stop || disk.hasEnded {
      disk.endProcess()
      let task = Running { [daemon] in await daemon?.stop() }
      machine.run(until: machine.now + 600_000_000_000) { task.result != nil }
      if task.result == nil {
        fatalError("seed \(plan.seed): the daemon does not end after the disk has ended")
      }
    }
    machine.run { machine_thread_count() == 0 }
    daemon?.release()
    daemon = nil
    clients = [:]
    while machine.step(until: machine.now) {}
    disk.restart()
  }

  /// Runs a task, which must end within ten simulated minutes. Returns nil if the daemon ends
  /// before the task.
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

/// A task and, after its end, its result.
private final class Running<R: Sendable>: @unchecked Sendable {
  private(set) var result: R?

  init(_ body: @escaping @Sendable () async -> R) {
    Task { result = await body() }
  }
}

/// Writes journal entries to the trace.
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
