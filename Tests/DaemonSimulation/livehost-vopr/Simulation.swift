import CSimulatedMachine
import ControlInterface
import FileSystem
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
  private(set) var violation: Model.Violation?
  /// What happened, for counting it.
  private(set) var events: [String: Int] = [:]
  /// Whether the daemon runs. Once it does not, nobody hears from it.
  private(set) var isAlive = false
  /// Whether it takes connections, and lines of more than what is being read.
  private var isServing = false
  /// Counts the runs of the daemon.
  private var life = 0
  private let plan: Plan
  private let machine: Machine
  private let disk: SimulatedDisk
  private var random: SplitMix64
  private var daemon: SimulatedDaemon?
  private var clients: [Int: Client] = [:]
  private var clientCount = 0
  /// Faults of calls that are to come.
  private var faults: [(fault: DiskFault, calls: Plan.Calls, left: Int)] = []
  private var crashOfStart: (call: Int, fault: DiskFault)?
  /// Whether a call of this life has failed. An answer to a call of the host does not say whether it is kept.
  private var hasFailed = false

  init(_ plan: Plan, trace: Trace) {
    self.plan = plan
    self.trace = trace
    machine = Machine(seed: plan.seed &* 3)
    Machine.current = machine
    random = SplitMix64(seed: plan.seed &* 5)
    // Each simulation begins at its own time, so that nothing depends on those before it.
    machine_start(1_000_000_000, 1_800_000_000_000_000_000)
    machine_set_cost_of_reading(plan.costOfReading)
    disk = SimulatedDisk(seed: plan.seed &* 7, pageBytes: plan.pageBytes) { nanoseconds in
      if machine_is_thread() { machine_pause(nanoseconds) }
    }
  }

  var diskEvents: [DiskEvent: Int] { disk.counts }

  func expect(_ invariant: Model.Invariant, _ holds: Bool, _ detail: @autoclosure () -> String) {
    do throws(Model.Violation) { try model.expect(invariant, holds, detail()) } catch {
      fail(error)
    }
  }

  private func fail(_ error: Model.Violation) {
    if violation == nil {
      violation = error
      trace.add("VIOLATION: \(error.invariant.rawValue): \(error.detail)")
    }
  }

  /// Whether valid lines may be rejected: rooms are closed, by the host or by the daemon's stop.
  var mayRefuse: Bool { !isServing || model.rooms.values.contains { $0.closed + $0.closings > 0 } }

  private func count(_ event: String) { events[event, default: 0] += 1 }

  /// Nothing of what clients sent is dropped, so that all of it can be checked.
  private var settings: RoomSettings {
    var settings = RoomSettings()
    settings.chatHistory = 1_000_000
    settings.reportedMessages = 1_000_000
    return settings
  }

  /// In the clients' time stamps, in milliseconds since 1970.
  private var time: Int { 1_800_000_000_000 + Int(machine.now / 1_000_000) }

  // MARK: Lives

  func run() {
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
    settle()
    for room in rooms { checkRoom(room) }
    checkRecordings(replays: true)
    end(.stop)
    start()
    end(.stop)
  }

  private func live(_ life: Plan.Life) {
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
    end(life.end)
  }

  /// Starts the daemon; `false` if it did not come to the end of that.
  @discardableResult
  private func start() -> Bool {
    isAlive = true
    life += 1
    hasFailed = false
    trace.add("livehostd starts")
    decide()
    do {
      var recording = RecordingSettings()
      recording.disk = disk
      recording.cataloguePath = ":memory:"
      recording.segmentBytes = plan.segmentBytes
      daemon = try SimulatedDaemon(
        on: machine, disk: disk, lanes: plan.lanes, settings: settings, recording: recording,
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
    checkRooms()
    checkRecordings(replays: false)
    isServing = true
    return true
  }

  /// Ends the life, unless it has ended, and frees the daemon.
  private func end(_ end: Plan.End) {
    isServing = false
    if isAlive {
      trace.add("livehostd ends: \(end.rawValue)")
      count(end.rawValue)
      switch end {
      case .kill: disk.endProcess()
      case .powerLoss: disk.losePower()
      case .stop: finish("the stop") { [daemon] in await daemon?.stop() }
      }
      isAlive = false
    }
    faults = []
    model.end()
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
  private func finish<R: Sendable>(
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

  // MARK: The disk

  private func decide() {
    disk.decide { [self] call in
      guard isAlive else { return nil }
      let fault = fault(of: call)
      if fault != nil || machine_is_thread() {
        trace.add(
          "disk: \(call.operation.name) \(call.path) \(call.bytes)\(fault.map { ", \($0)" } ?? "")")
      }
      switch fault {
      case .powerLoss?, .processEnd?:
        isAlive = false
        count("\(call.operation.name): \(fault == .powerLoss ? "powerLoss" : "kill")")
        return fault
      case .error?: hasFailed = true
      case .short, .slow, .never, .lie, nil: break
      }
      // Others run while the disk works.
      if machine_is_thread() {
        let isSync = call.operation == .sync || call.operation == .syncDirectory
        if isSync {
          machine_pause(UInt64(random.pick(50_000..<3_000_000)))
        } else if random.oneIn(6) {
          machine_pause(UInt64(random.pick(1_000..<20_000)))
        }
      }
      return fault
    }
  }

  private func fault(of call: DiskCall) -> DiskFault? {
    if let crash = crashOfStart {
      crashOfStart?.call -= 1
      if crash.call <= 1 {
        crashOfStart = nil
        count("crash of the start")
        return crash.fault
      }
    }
    guard let index = faults.firstIndex(where: { $0.calls.contains(call) }) else { return nil }
    guard faults[index].left == 0 else {
      faults[index].left -= 1
      return nil
    }
    return faults.remove(at: index).fault
  }

  // MARK: Clients

  private var rooms: [String] { (0..<plan.rooms).map { "room-\($0)" } }

  private func connect() {
    for slot in 0..<plan.clients { connect(slot) }
  }

  private func connect(_ slot: Int) {
    clientCount += 1
    if let channel = daemon?.connect(seed: random.next()) {
      clients[slot] = Client("c\(clientCount)", channel, self)
    }
  }

  private func perform(_ kind: Plan.Kind) {
    switch kind {
    case .send(let slot, let room, let lines, let syncs):
      if clients[slot]?.isOpen != true { connect(slot) }
      clients[slot]?.send(
        lines, to: rooms[room], time, syncs: syncs,
        noise: random.next())
    case .leave(let slot, let abruptly): clients[slot]?.leave(abruptly: abruptly)
    case .stall(let slot, let nanoseconds): clients[slot]?.stall(nanoseconds)
    case .act(let room): act(rooms[room])
    case .open(let room): open(rooms[room])
    case .close(let room): close(rooms[room])
    case .record(let room): record(rooms[room])
    case .stop(let room): stopRecording(rooms[room])
    case .reload: reload()
    case .clock(let milliseconds):
      trace.add("the clock is set by \(milliseconds) ms")
      machine_set_realtime(
        UInt64(1_800_000_000_000 + milliseconds) * 1_000_000 + machine.now)
    case .fault(let fault, let calls, let left): faults.append((fault, calls, left))
    case .check: for room in rooms { ask(room) }
    }
    count("\(kind)".prefix { $0 != "(" }.description)
  }

  /// Makes a call of the control interface. What comes after the daemon's end is not heard.
  private func call(
    _ name: String, _ body: @escaping @Sendable (LivehostControl) async throws -> Void
  ) {
    guard let control = daemon?.control else { return }
    trace.add(name)
    Task { [self] in
      do { try await body(control) } catch { if isAlive { trace.add("\(name): \(error)") } }
    }
  }

  private func act(_ room: String) {
    guard let number = model.rooms[room].map({ $0.acts.asked + 1 }), number < 1_000 else { return }
    model.rooms[room]?.acts.asked = number
    let generation = model.rooms[room]?.closed
    call("act \(number) in \(room)") { [self] control in
      _ = try await control.act(
        .control(.set(control: "gain", value: Double(number) / 1_000)), in: room)
      guard isAlive, !hasFailed, model.rooms[room]?.closed == generation else { return }
      trace.add("act \(number) in \(room) is done")
      let known = model.rooms[room]?.acts.acknowledged ?? 0
      model.rooms[room]?.acts.acknowledged = max(number, known)
    }
  }

  private func open(_ room: String) {
    model.rooms[room, default: Model.Room()].mayExist = true
    let generation = model.rooms[room]?.closed
    call("open \(room)") { [self] control in
      try await control.openRoom(room)
      guard isAlive, !hasFailed, model.rooms[room]?.closings == 0,
        model.rooms[room]?.closed == generation
      else { return }
      trace.add("\(room) is open")
      model.rooms[room]?.mustExist = true
    }
  }

  private func close(_ room: String) {
    let removed = model.beginClosing(room)
    call("close \(room)") { [self] control in
      var isDone = false
      defer {
        if isAlive {
          trace.add("\(room) is closed: \(isDone)")
          model.endClosing(room, removed, isDone: isDone && !hasFailed)
        }
      }
      try await control.closeRoom(room)
      isDone = true
    }
    model.endRecordings(of: room)
  }

  private func record(_ room: String) {
    let endings = model.endings[room]
    call("record \(room)") { [self] control in
      let report = try await control.startRecording(room)
      guard isAlive else { return }
      trace.add("\(room) is recorded as \(report.recording)")
      model.beginRecording(
        report.recording, of: room, isOver: model.endings[room] != endings,
        endsWithLife: hasFailed)
    }
  }

  private func stopRecording(_ room: String) {
    model.endRecordings(of: room)
    call("stop \(room)") { [self] control in
      let report = try await control.stopRecording(room)
      guard isAlive else { return }
      trace.add("\(report.recording) has \(report.events) events")
      model.endRecordings(of: room)
    }
  }

  private func reload() {
    trace.add("reload")
    var settings = settings
    if random.oneIn(2) {
      settings.throttling[.chat].interval = .milliseconds(Int64(random.pick(1..<50)))
    }
    daemon?.directory.apply(settings)
  }

  /// A recording has failed: what is acknowledged from here on is not in it.
  func recordingFailed(_ room: String) {
    count("recording failed")
    model.endRecordings(of: room)
  }

  // MARK: Checks

  /// Waits until all clients have heard of all that they have sent.
  private func settle() {
    for slot in clients.keys.sorted() {
      clients[slot]?.send(
        1, to: rooms[0], time, syncs: true, noise: 5)
    }
    let end = machine.now + 60_000_000_000
    machine.run(until: end) { clients.values.allSatisfy { $0.unanswered.isEmpty } }
    for client in clients.values.sorted(by: { $0.name < $1.name }) {
      expect(
        .syncIsAnswered, client.unanswered.isEmpty,
        "\(client.name) waits for \(client.unanswered.map(\.token))")
    }
  }

  /// All rooms of a daemon that was just started.
  private func checkRooms() {
    let names = finish("a list of rooms") { [self] in
      try? await daemon?.control.listRooms().map(\.room)
    }
    for name in (names ?? nil) ?? [] {
      expect(.foreign, model.rooms[name]?.mayExist == true, "there is a room \(name)")
    }
    for room in rooms { checkRoom(room, isRecovered: true) }
  }

  private func checkRoom(_ room: String, isRecovered: Bool = false) {
    finish("a look at \(room)") { [self] in await look(room, isRecovered: isRecovered) }
  }

  private func ask(_ room: String) {
    Task { [self] in await look(room, isRecovered: false) }
  }

  private func look(_ room: String, isRecovered: Bool) async {
    guard isAlive, let control = daemon?.control, let promised = model.rooms[room] else { return }
    var found: (messages: [String], act: Int)?
    if let report = try? await control.getRoom(room, features: [.chat, .control]) {
      let value = report.features.control?.values["gain"] ?? 0
      found = (report.features.chat?.messages.map(\.id) ?? [], Int((value * 1_000).rounded()))
    }
    guard isAlive else { return }
    trace.add(
      "\(room) has \(found.map { "\($0.messages.count) messages, act \($0.act)" } ?? "gone")")
    do throws(Model.Violation) {
      try model.check(room, found, promised: promised, isRecovered: isRecovered)
    } catch {
      fail(error)
    }
  }

  private func checkRecordings(replays: Bool) {
    for name in model.recordings.keys.sorted() {
      finish("reading \(name)") { [self] in
        do {
          guard let files = try await daemon?.library.files(of: name) else { return }
          var reader = RecordingReader(files)
          var steps: [RecordedStep] = []
          while try reader.read(into: &steps) {}
          let messages = steps.compactMap { step -> String? in
            guard case .event(let event, _) = step,
              case .chat(.message(let message)) = event.payload
            else { return nil }
            return String(message.id)
          }
          guard isAlive else { return }
          trace.add("\(name) has \(steps.count) steps, \(messages.count) messages")
          do throws(Model.Violation) { try model.check(recording: name, messages) } catch {
            fail(error)
          }
        } catch {
          expect(.recordedIsKept, !isAlive, "\(name) cannot be read: \(error)")
        }
      }
    }
    if replays { checkReplays() }
  }

  /// A recording that says to which state it leads leads there.
  private func checkReplays() {
    let reports = finish("a list of recordings") { [self] in
      try? await daemon?.recordings.list(nil).recordings
    }
    for report in (reports ?? nil) ?? [] {
      guard let digest = report.digest else { continue }
      finish("a replay of \(report.recording)") { [self] in
        let request = StartTaskRequest(
          kind: .replay, recording: report.recording, room: "replay")
        let reply = try? await daemon?.control.startTask(
          request, reply: { _ in }, progress: { _ in })
        let led = reply?.result?["digest"]
        expect(
          .replayed, led == .string(digest),
          "\(report.recording) was recorded at \(digest) and leads to \(led?.description ?? "nothing")"
        )
        try? await daemon?.control.closeRoom("replay")
      }
    }
  }
}

/// A task, and its result once it has ended.
private final class Running<R: Sendable>: @unchecked Sendable {
  private(set) var result: R?

  init(_ body: @escaping @Sendable () async -> R) {
    Task { result = await body() }
  }
}

extension Plan.Calls {
  func contains(_ call: DiskCall) -> Bool {
    switch self {
    case .all: true
    case .writes: call.operation == .write
    case .syncs: call.operation == .sync
    case .directorySyncs: call.operation == .syncDirectory
    case .renames: call.operation == .rename
    }
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
    simulation.trace.add("journal: \(event.message)")
    if "\(event.message)".hasPrefix("recording of room"), let room = event.metadata?["room"] {
      simulation.recordingFailed("\(room)")
    }
  }
}
