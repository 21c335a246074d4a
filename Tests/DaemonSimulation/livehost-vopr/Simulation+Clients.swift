import CSimulatedMachine
import ControlInterface
import LiveEvents
import LivehostDaemon
import RateLimiting
import Rooms
import TestSupport
import Throttling

extension Simulation {
  var rooms: [String] { (0..<plan.rooms).map { "room-\($0)" } }

  func connect() {
    for slot in 0..<plan.clients { connect(slot) }
  }

  func connect(_ slot: Int) {
    clientCount += 1
    if let channel = daemon?.connect(seed: random.next()) {
      clients[slot] = Client("c\(clientCount)", channel, self)
    }
  }

  func perform(_ kind: Plan.Kind) {
    switch kind {
    case .send(let slot, let room, let lines, let syncs):
      if clients[slot]?.isOpen != true { connect(slot) }
      clients[slot]?.send(
        lines, to: rooms[room], time, syncs: syncs,
        noise: random.next())
    case .leave(let slot, let abruptly): clients[slot]?.leave(abruptly: abruptly)
    case .stall(let slot, let nanoseconds): clients[slot]?.stall(nanoseconds)
    case .act(let room): act(rooms[room])
    case .open(let room, let isRecorded):
      open(rooms[room])
      if isRecorded { record(rooms[room]) }
    case .close(let room, let reopens):
      close(rooms[room])
      if reopens { open(rooms[room]) }
    case .record(let room): record(rooms[room])
    case .stop(let room): stopRecording(rooms[room])
    case .pause(let room): pauseRecording(rooms[room])
    case .resume(let room): resumeRecording(rooms[room])
    case .replay(let room, let target, let speed):
      replay(rooms[room], into: rooms[target], speed: speed)
    case .watch(let number, let room, let rate): watch(number, rooms[room], rate: rate)
    case .stallMonitor(let number, let nanoseconds): monitors[number]?.stall(nanoseconds)
    case .reload: reload()
    case .clock(let milliseconds):
      trace.add("the clock is set by \(milliseconds) ms")
      machine_set_realtime(
        UInt64(1_800_000_000_000 + milliseconds) * 1_000_000 + machine.now)
    case .fault(let fault, let calls, let left, let nanoseconds):
      faults.append((fault, calls, left, machine.now + nanoseconds))
    case .check: for room in rooms { ask(room) }
    }
    count(kind.name)
  }

  /// Calls a method of the control interface. Answers after the end of the daemon are ignored.
  func call(
    _ name: String, _ body: @escaping @Sendable (LivehostControl) async throws -> Void
  ) {
    guard let control = daemon?.control else { return }
    trace.add(name)
    Task { [self] in
      do { try await body(control) } catch { if isAlive { trace.add("\(name): \(error)") } }
    }
  }

  func act(_ room: String) {
    guard let number = model.rooms[room].map({ $0.acts.asked + 1 }), number < 1_000 else { return }
    model.rooms[room]?.acts.asked = number
    let (generation, life) = (model.rooms[room]?.closed, life)
    let isAlone = model.rooms[room]?.actsInFlight == 0
    model.rooms[room]?.actsInFlight += 1
    call("act \(number) in \(room)") { [self] control in
      defer { if self.life == life { model.rooms[room]?.actsInFlight -= 1 } }
      _ = try await control.act(
        .control(.set(control: Text(room), value: Double(number) / 1_000)), in: room)
      guard isAlive, isAlone, model.rooms[room]?.closed == generation else { return }
      trace.add("act \(number) in \(room) is done")
      let known = model.rooms[room]?.acts.acknowledged ?? 0
      model.rooms[room]?.acts.acknowledged = max(number, known)
    }
  }

  func open(_ room: String) {
    model.rooms[room, default: Model.Room()].mayExist = true
    model.rooms[room]?.isReopened = true
    let generation = model.rooms[room]?.closed
    call("open \(room)") { [self] control in
      try await control.openRoom(room)
      guard isAlive, model.rooms[room]?.closings == 0,
        model.rooms[room]?.closed == generation
      else { return }
      trace.add("\(room) is open")
      model.rooms[room]?.mustExist = true
    }
  }

  func close(_ room: String) {
    let removed = model.beginClosing(room)
    call("close \(room)") { [self] control in
      var isDone = false
      defer {
        if isAlive {
          trace.add("\(room) is closed: \(isDone)")
          model.endClosing(room, removed, isDone: isDone)
        }
      }
      try await control.closeRoom(room)
      isDone = true
    }
    model.endRecordings(of: room)
  }

  func record(_ room: String) {
    let endings = model.endings[room]
    call("record \(room)") { [self] control in
      let report = try await control.startRecording(room, retries: false)
      guard isAlive else { return }
      trace.add("\(room) is recorded as \(report.recording)")
      model.beginRecording(
        report.recording, of: room,
        isOver: model.endings[room] != endings || failedRecordings.contains(report.recording),
        endsWithLife: hasFailed)
    }
  }

  func stopRecording(_ room: String) {
    model.endRecordings(of: room)
    call("stop \(room)") { [self] control in
      let report = try await control.stopRecording(room)
      guard isAlive else { return }
      trace.add("\(report.recording) has \(report.events) events")
      model.endRecordings(of: room)
    }
  }

  func pauseRecording(_ room: String) {
    model.endRecordings(of: room, withGaps: true)
    call("pause \(room)") { [self] control in
      let report = try await control.pauseRecording(room)
      guard isAlive else { return }
      trace.add("\(report.recording) is paused at \(report.events) events")
    }
  }

  func resumeRecording(_ room: String) {
    call("resume \(room)") { [self] control in
      let report = try await control.resumeRecording(room)
      guard isAlive else { return }
      trace.add("\(report.recording) resumes")
    }
  }

  func reload() {
    trace.add("reload")
    var settings = self.settings
    if random.oneIn(2) {
      settings.throttling[.chat].interval = .milliseconds(Int64(random.pick(1..<50)))
    }
    daemon?.directory.apply(settings)
  }

  /// Replays the newest recording of a room into another room, which clients may use at the same
  /// time.
  func replay(_ source: String, into target: String, speed: Double?) {
    guard let name = model.recordings.filter({ $1.room == source }).keys.max() else { return }
    model.copy(from: source, into: target)
    call("replay \(name) into \(target)") { [self] control in
      var request = StartTaskRequest(kind: .replay, recording: name, room: target)
      request.speed = speed
      let reply = try await control.startTask(request, reply: { _ in }, progress: { _ in })
      if isAlive { trace.add("\(name) was played: \(reply.lines ?? [])") }
    }
  }

  func watch(_ number: Int, _ room: String, rate: Double?) {
    monitors[number]?.abandon()
    monitors[number] = daemon.map {
      Monitor(of: room, rate: rate, $0.connectControl(seed: random.next()), self)
    }
  }

  /// Records the failure of a recording, which will lack all messages that are acknowledged later.
  func recordingFailed(_ room: String) {
    model.endRecordings(of: room)
  }
}
