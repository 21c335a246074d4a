package import ControlInterface
package import LiveEvents
import Locking
import RateLimiting
import SystemSupport

/// The running tasks, by name. May be used from any thread.
package final class TaskRegistry: Sendable {
  private struct Entry: Sendable {
    /// The number of the task, in the order in which tasks start.
    let number: Int
    var report: TaskReport
    /// Cancels the task; `nil` until the task exists.
    var cancel: (@Sendable () -> Void)?
    /// Whether a cancellation was requested, possibly before the task existed.
    var isCancelled = false
    /// The room that the task depends on.
    var room: RoomName?
    var hasLostRoom = false
  }

  private struct State: Sendable {
    var started = 0
    var entries: [String: Entry] = [:]
  }

  private let state = Guarded(State())
  private let now: @Sendable () -> UInt64

  /// - Parameter now: Returns monotonic nanoseconds.
  package init(now: @escaping @Sendable () -> UInt64 = { MonotonicClock.nanoseconds() }) {
    self.now = now
  }

  /// The running tasks, in the order of their start.
  package var reports: [TaskReport] {
    state.withLock { state in
      state.entries.values.sorted { $0.number < $1.number }.map(\.report)
    }
  }

  /// Requests the cancellation of a task. Returns `false` if no running task has this name.
  package func cancel(_ name: String) -> Bool {
    let entry = state.withLock { state in
      state.entries[name]?.isCancelled = true
      return state.entries[name]
    }
    entry?.cancel?()
    return entry != nil
  }

  /// Requests the cancellation of all tasks that depend on a room, because the room was closed.
  package func roomClosed(_ room: RoomName) {
    let tasks = state.withLock { state in
      state.entries.filter { $0.value.room == room }.map { name, entry in
        state.entries[name]?.isCancelled = true
        state.entries[name]?.hasLostRoom = true
        return entry
      }
    }
    for task in tasks { task.cancel?() }
  }

  /// Runs `body` as a task. The task is cancelled by ``cancel(_:)``, by the cancellation of the
  /// calling task, or when the room that it depends on is closed.
  ///
  /// - Parameter onProgress: Called with the percentage, at most a hundred times; while the total
  ///   is unknown, called with `nil`, at most once a second.
  /// - Throws: ``ControlError/noSuchRoom(_:)`` if the room was closed;
  ///   ``ControlError/taskCancelled(_:)`` after ``cancel(_:)``; `CancellationError` if the calling
  ///   task was cancelled; the errors of `body`.
  package func run<R: Sendable>(
    _ kind: TaskKind, on subject: String, onProgress: @escaping @Sendable (String, Int?) -> Void,
    onEnd: @Sendable (TaskEnd) -> Void = { _ in },
    _ body: @escaping @Sendable (TaskProgress) async throws -> R
  ) async throws -> (name: String, result: R) {
    let name = enter(kind, subject)
    let start = now()
    func end(_ result: TaskEnd.Result) {
      onEnd(
        TaskEnd(
          task: name, kind: kind, subject: subject,
          nanoseconds: now() - start, result: result))
    }
    let progress = TaskProgress(of: name, now: now) { [weak self] percent in
      self?.setProgress(percent, of: name)
      onProgress(name, percent)
    } onRoom: { [weak self] in
      self?.setRoom($0, of: name)
    }
    let task = Task { try await body(progress) }
    hasBegun(name) { task.cancel() }
    do {
      let result = try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
      remove(name)
      end(.done)
      return (name, result)
    } catch {
      let entry = remove(name)
      if entry?.hasLostRoom == true, let lost = entry?.room {
        end(.failed("room \(lost) was closed"))
        throw ControlError.noSuchRoom(lost.description)
      }
      guard error is CancellationError else {
        end(.failed(TaskEnd.reason(error)))
        throw error
      }
      end(.cancelled)
      throw entry?.isCancelled == true ? ControlError.taskCancelled(name) : error
    }
  }

  private func enter(_ kind: TaskKind, _ subject: String) -> String {
    state.withLock { state in
      state.started += 1
      let name = "\(kind.rawValue)-\(state.started)"
      let report = TaskReport(
        task: name, kind: kind, subject: subject, percent: nil,
        startedAt: WallClock.milliseconds())
      state.entries[name] = Entry(number: state.started, report: report)
      return name
    }
  }

  /// Makes a task cancellable, and cancels it if a cancellation was already requested.
  private func hasBegun(_ name: String, cancel: @escaping @Sendable () -> Void) {
    let isCancelled = state.withLock { state in
      state.entries[name]?.cancel = cancel
      return state.entries[name]?.isCancelled ?? false
    }
    if isCancelled { cancel() }
  }

  @discardableResult
  private func remove(_ name: String) -> Entry? {
    state.withLock { $0.entries.removeValue(forKey: name) }
  }

  private func setProgress(_ percent: Int?, of name: String) {
    state.withLock { $0.entries[name]?.report.percent = percent }
  }

  private func setRoom(_ room: RoomName, of name: String) {
    state.withLock { $0.entries[name]?.room = room }
  }
}

/// Limits the progress reports of a task to one per percent, or to one per second while the total
/// is unknown.
package final class TaskProgress: Sendable {
  /// The task's name.
  package let task: String
  private let thinner = Guarded(ProgressThinner<Int?>())
  private let now: @Sendable () -> UInt64
  private let deliver: @Sendable (Int?) -> Void
  private let onRoom: @Sendable (RoomName) -> Void

  init(
    of task: String, now: @escaping @Sendable () -> UInt64,
    _ deliver: @escaping @Sendable (Int?) -> Void,
    onRoom: @escaping @Sendable (RoomName) -> Void
  ) {
    self.task = task
    self.now = now
    self.deliver = deliver
    self.onRoom = onRoom
  }

  /// Makes the task depend on a room: the task is cancelled when the room is closed.
  package func begin(on room: RoomName) { onRoom(room) }

  /// Reports the amount of work done, and the total if it is known.
  ///
  /// An amount above the total counts as the total, because `done` and `total` can be read at
  /// different times.
  package func report(_ done: Int, of total: Int?) {
    let now = Instant(nanoseconds: Int64(now()))
    let done = max(0, min(done, total ?? done))
    let percent = total.map { $0 > 0 ? Int(Double(done) / Double($0) * 100) : 100 }
    let due = thinner.withLock {
      $0.push(
        percent, completed: UInt64(done), total: total.map { UInt64(max(0, $0)) }, at: now
      ).output
    }
    if let due { deliver(due) }
  }
}
