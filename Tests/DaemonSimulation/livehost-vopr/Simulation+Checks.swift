import ControlInterface
import Ingest
import JSON
import LiveEvents
import LivehostDaemon
import Recordings
import Rooms

extension Simulation {
  /// Waits until every client has an answer to everything that it sent.
  func settle() {
    faults = []
    isHanging = false
    for slot in clients.keys.sorted() {
      clients[slot]?.send(
        1, to: rooms[0], time, syncs: true, noise: 5)
    }
    let end = machine.now + 180_000_000_000
    machine.run(until: end) { !isAlive || clients.values.allSatisfy { $0.unanswered.isEmpty } }
    // A crash may have ended the daemon during the wait.
    guard isAlive else { return }
    for client in clients.values.sorted(by: { $0.name < $1.name }) {
      expect(
        .syncIsAnswered, client.unanswered.isEmpty,
        "\(client.name) waits for \(client.unanswered.map(\.token))")
    }
    checkBounds()
    for number in monitors.keys.sorted() { checkMonitor(number) }
  }

  /// Checks that a monitor shows its room's state some time after the last change.
  private func checkMonitor(_ number: Int) {
    guard let monitor = monitors[number] else { return }
    var isSame = false
    for _ in 0..<50 where !isSame && isAlive && violation == nil {
      guard monitor.isWatching else { return }
      let report = finish("a query of \(monitor.room)") { [daemon] in
        try? await daemon?.control.getRoom(monitor.room, features: [.chat, .control])
      }
      // If the room is gone, the monitor has been notified.
      if let report = report.flatMap(\.self), let now = try? JSONValue(encoding: report) {
        isSame = monitor.report?["features"] == MergePatch.normalized(now)["features"]
      }
      if !isSame { machine.run(until: machine.now + 100_000_000) { !isAlive } }
    }
    guard isAlive, monitor.isWatching else { return }
    expect(.converges, isSame, "a monitor of \(monitor.room) lacks changes of its room")
  }

  /// Checks that the amount of pending data stays bounded.
  func checkBounds() {
    guard let daemon else { return }
    expect(
      .bounded,
      daemon.memory.bytes <= daemon.ingest.memoryLimit
        && daemon.library.waitingSteps <= RecordingSettings().maximumWaiting,
      "\(daemon.memory.bytes) bytes from clients and \(daemon.library.waitingSteps) steps are pending"
    )
  }

  /// Checks all rooms of a daemon that has just been started.
  func checkRooms() {
    let names = finish("a list of rooms") { [self] in
      try? await daemon?.control.listRooms().map(\.room)
    }
    for name in (names ?? nil) ?? [] {
      expect(.foreign, model.rooms[name]?.mayExist == true, "room \(name) exists")
    }
    for room in rooms { checkRoom(room, isRecovered: true) }
  }

  func checkRoom(_ room: String, isRecovered: Bool = false) {
    finish("a query of \(room)") { [self] in await look(room, isRecovered: isRecovered) }
  }

  func ask(_ room: String) {
    Task { [self] in await look(room, isRecovered: false) }
  }

  private func look(_ room: String, isRecovered: Bool) async {
    guard isAlive, let control = daemon?.control, let promised = model.rooms[room] else { return }
    var found: (messages: [String], act: Int)?
    if let report = try? await control.getRoom(room, features: [.chat, .control]) {
      let value = report.features.control?.values[room] ?? 0
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

  func checkRecordings(replays: Bool) {
    for name in model.recordings.keys.sorted() {
      finish("reading \(name)") { [self] in
        var steps: [RecordedStep] = []
        do {
          guard let files = try await daemon?.library.files(of: name) else { return }
          var reader = RecordingReader(files)
          do {
            while try reader.read(into: &steps) {}
          } catch RecordingError.damaged where model.recordings[name]?.mayBeDamaged == true {}
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
          expect(
            .recordedIsKept, !isAlive || model.recordings[name]?.mayBeDamaged == true,
            "\(name) cannot be read: \(error)")
        }
      }
    }
    if replays { checkReplays() }
  }

  /// Checks that the replay of each recording with a digest reaches that digest.
  private func checkReplays() {
    let reports = finish("a list of recordings") { [self] in
      try? await daemon?.recordings.list(nil).recordings
    }
    for report in (reports ?? nil) ?? [] {
      guard let digest = report.digest, report.state != .damaged else { continue }
      finish("a replay of \(report.recording)") { [self] in
        let request = StartTaskRequest(
          kind: .replay, recording: report.recording, room: "replay")
        let reply = try? await daemon?.control.startTask(
          request, reply: { _ in }, progress: { _ in })
        let led = reply?.result?["digest"]
        expect(
          .replayed, led == .string(digest),
          "\(report.recording) was recorded at \(digest) and replayed to \(led?.description ?? "nothing")"
        )
        try? await daemon?.control.closeRoom("replay")
      }
    }
  }
}
