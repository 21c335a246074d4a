import Analysis
package import ControlInterface
import JSON
package import LiveEvents
package import Logging
import Recordings
package import Rooms
import Varlink

/// Runs the tasks that clients start with `StartTask`.
///
/// All tasks run on the work executor, at most one per thread at a time. An analysis occupies its
/// slot until it ends. An export, or a replay at full speed, occupies a slot only while it reads
/// and decodes a block, not while it waits for the client or the room. A replay in real time uses
/// no slot, because it needs little processor time and must not be delayed by other tasks.
package struct RoomTasks: Sendable {
  private let registry: TaskRegistry
  private let executor: WorkExecutor
  private let slots: WorkSlots
  private let recordings: RoomRecordings
  private let directory: RoomDirectory
  private let logger: Logger

  package init(
    registry: TaskRegistry = TaskRegistry(), executor: WorkExecutor, slots: WorkSlots,
    recordings: RoomRecordings, directory: RoomDirectory,
    logger: Logger
  ) {
    self.registry = registry
    self.logger = logger
    self.executor = executor
    self.slots = slots
    self.recordings = recordings
    self.directory = directory
  }

  package var reports: [TaskReport] { registry.reports }

  /// Cancels a task. Throws ``ControlError/noSuchTask(_:)`` if no running task has this name.
  package func cancel(_ name: String) throws(ControlError) {
    guard registry.cancel(name) else { throw .noSuchTask(name) }
  }

  /// Runs a task to its end, passes each part of the result to `reply`, and logs how the task
  /// ended.
  package func run(
    _ request: StartTaskRequest, reply: @escaping @Sendable (TaskReply) async throws -> Void,
    progress: @escaping @Sendable (TaskReply) -> Void
  ) async throws -> TaskReply {
    let subject = request.recording ?? request.room ?? ""
    let (name, result) = try await registry.run(
      request.kind, on: subject, onProgress: { progress(TaskReply(task: $0, percent: $1)) },
      onEnd: { [logger] in $0.log(to: logger) }
    ) { thinned in
      try await withTaskExecutorPreference(executor) {
        try await work(request, thinned, reply)
      }
    }
    var last = TaskReply(task: name, percent: 100)
    last.result = result.json
    last.lines = result.lines
    return last
  }

  private func work(
    _ request: StartTaskRequest, _ progress: TaskProgress,
    _ reply: @Sendable (TaskReply) async throws -> Void
  ) async throws -> AnalysisResult {
    do {
      switch request.kind {
      case .replay: return try await replay(request, progress)
      case .export: return try await export(request, progress, reply)
      case .highlights: return try await analyze(.highlights, request, progress)
      case .spam: return try await analyze(.spam, request, progress)
      case .chatters: return try await analyze(.chatters, request, progress)
      }
    } catch is WorkSlots.Full {
      throw ControlError.limitReached("tasks")
    } catch RecordingError.damaged(let name, let damage) {
      throw await recordings.damaged(name, damage)
    } catch let error as RecordingError {
      throw ControlError(error)
    }
  }

  // MARK: Recordings

  private func replay(
    _ request: StartTaskRequest, _ progress: TaskProgress
  ) async throws -> AnalysisResult {
    let files = try await files(request.recording)
    let text = request.room ?? files.room
    guard let room = RoomName(text) else { throw ServiceError.invalidParameter("room") }
    if let speed = request.speed, !(speed >= 0.001 && speed <= 1_000_000) {
      throw ServiceError.invalidParameter("speed")
    }
    guard (0...1_000_000_000_000).contains(request.startMs ?? 0) else {
      throw ServiceError.invalidParameter("startMs")
    }
    progress.begin(on: room)
    guard let lane = directory.laneOpening(room) else { throw ControlError.limitReached("rooms") }
    let total = files.bytes
    do {
      let result = try await Replay(
        files, into: room, on: lane, speed: request.speed,
        start: Int64(request.startMs ?? 0) * 1_000_000, slots: slots
      ).run(progress: { progress.report($0, of: total) })
      return AnalysisResult(
        json: [
          "room": .string(text), "events": .integer(Int64(result.events)),
          "frames": .integer(Int64(result.frames)), "digest": .string(result.digest),
        ],
        lines: ["\(result.events) events and \(result.frames) frames; state \(result.digest)"])
    } catch let problem as Replay.Problem {
      switch problem {
      case .roomBusy: throw ControlError.busy
      case .roomClosed: throw ControlError.noSuchRoom(text)
      case .nothingLeft: throw ServiceError.invalidParameter("startMs")
      }
    }
  }

  private func export(
    _ request: StartTaskRequest, _ progress: TaskProgress,
    _ reply: @Sendable (TaskReply) async throws -> Void
  ) async throws -> AnalysisResult {
    let files = try await files(request.recording)
    var lines = RecordingLines(files)
    var events = 0
    while let part = try await slots.run(isNew: events == 0, { try lines.next() }) {
      try Task.checkCancellation()
      events += part.events
      progress.report(lines.bytesRead, of: files.bytes)
      guard part.events > 0 else { continue }
      var message = TaskReply(task: progress.task)
      message.text = part.text
      try await reply(message)
    }
    return AnalysisResult(
      json: ["events": .integer(Int64(events))], lines: ["\(events) events"])
  }

  /// Checks one recording for damage, or the recordings of a room, or all of them.
  ///
  /// - Parameter reply: Called with the progress, at most a hundred times, and with each result.
  package func verify(
    _ recording: String?, room: RoomName?,
    reply: @escaping @Sendable (VerifyRecordingsReply) async throws -> Void
  ) async throws {
    var listed = try await recordings.list(room, limit: .max).recordings
    if let recording {
      listed.removeAll { $0.recording != recording }
      guard !listed.isEmpty else { throw ControlError.noSuchRecording(recording) }
    }
    let total = listed.reduce(0) { $0 + $1.bytes }
    try await withTaskExecutorPreference(executor) { [listed] in
      var (done, percent) = (0, 0)
      for recording in listed {
        guard
          let report = try await verify(
            recording, isNew: done == 0,
            progress: { bytes in
              let now = min(100, (done + bytes) * 100 / max(1, total))
              guard now > percent else { return }
              percent = now
              try await reply(VerifyRecordingsReply(percent: percent))
            })
        else { continue }
        done += report.bytes
        try await reply(VerifyRecordingsReply(percent: percent, checked: report))
      }
    }
  }

  /// Checks a recording for damage. A recording that cannot be read counts as damaged. Returns
  /// `nil` if the recording was deleted in the meantime.
  private func verify(
    _ recording: RecordingReport, isNew: Bool,
    progress: (_ bytes: Int) async throws -> Void
  ) async throws -> RecordingCheckReport? {
    let name = recording.recording
    var report = RecordingCheckReport(
      recording: name, room: recording.room, bytes: 0, lines: 0, records: 0, damage: nil)
    do {
      let files = try await recordings.files(of: name)
      report.bytes = files.bytes
      var check = RecordingCheck(files)
      defer { (report.lines, report.records) = (check.lines, check.records) }
      while try await check.nextPart(on: slots, isNew: isNew && check.bytesRead == 0) {
        try await progress(check.bytesRead)
      }
      if let found = check.damage {
        _ = await recordings.damaged(name, found)
        report.damage = found.description
      } else if let whole = check.whole {
        await recordings.whole(name, whole)
      }
    } catch let error as RecordingError {
      report.damage = error.description
    } catch ControlError.recordingFailed(room: _, reason: let reason) {
      report.damage = reason
    } catch ControlError.noSuchRecording {
      return nil
    } catch is WorkSlots.Full {
      throw ControlError.limitReached("tasks")
    }
    return report
  }

  private func files(_ name: String?) async throws -> RecordingFiles {
    guard let name else { throw ServiceError.invalidParameter("recording") }
    return try await recordings.files(of: name)
  }

  // MARK: Analyses

  private func analyze(
    _ kind: AnalysisKind, _ request: StartTaskRequest, _ progress: TaskProgress
  ) async throws -> AnalysisResult {
    if request.recording == nil, let room = request.room.flatMap(RoomName.init) {
      progress.begin(on: room)
    }
    return try await slots.run {
      if let recording = request.recording {
        let source = try RecordedMessages(try await recordings.files(of: recording))
        return try await Analysis.analyze(kind, source) { progress.report($0, of: $1) }
      }
      if kind == .highlights, let result = try await highlights(of: request.room) { return result }
      let source = MessageList(try await history(of: request.room))
      return try await Analysis.analyze(kind, source) { progress.report($0, of: $1) }
    }
  }

  private func history(of room: String?) async throws -> [WrittenMessage] {
    try await visit(room) { $0.screen.writtenMessages }
  }

  /// Returns the highlights that a room has found; `nil` unless the room analyses its chat.
  private func highlights(of room: String?) async throws -> AnalysisResult? {
    try await visit(room) { $0.screen.highlights }
  }

  private func visit<Result: Sendable>(
    _ text: String?, _ body: @escaping @Sendable (Room) -> Result
  ) async throws -> Result {
    guard let text, let room = RoomName(text) else { throw ServiceError.invalidParameter("room") }
    guard let lane = directory.lane(of: room),
      let result = await lane.visit(room, { $0.map(body) })
    else { throw ControlError.noSuchRoom(text) }
    return result
  }
}
