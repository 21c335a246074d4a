package import ControlInterface
import RateLimiting
import Synchronization
import Systemd

/// The tasks that run, by name. May be used from any thread.
package final class TaskRegistry: Sendable {
  private struct Entry: Sendable {
    var report: TaskReport
    /// `nil` until the task is made; who cancels it before that is remembered.
    var cancel: (@Sendable () -> Void)?
    var isCancelled = false
  }

  private struct State: Sendable {
    var started = 0
    var entries: [String: Entry] = [:]
  }

  private let state = Mutex(State())

  package init() {}

  /// In the order in which they began.
  package var reports: [TaskReport] {
    state.withLock { state in
      state.entries.values.map(\.report).sorted {
        ($0.task.count, $0.task) < ($1.task.count, $1.task)
      }
    }
  }

  /// Asks a task to end; `false` if there is none of that name.
  package func cancel(_ name: String) -> Bool {
    let entry = state.withLock { state in
      state.entries[name]?.isCancelled = true
      return state.entries[name]
    }
    entry?.cancel?()
    return entry != nil
  }

  /// Runs `body` as a task, until it ends, is cancelled by name or with the caller's own task.
  ///
  /// - Parameter onProgress: told the share done in percent, at most a hundred times.
  package func run<R: Sendable>(
    _ kind: TaskKind, on subject: String, onProgress: @escaping @Sendable (String, Int) -> Void,
    _ body: @escaping @Sendable (TaskProgress) async throws -> R
  ) async throws -> (name: String, result: R) {
    let name = enter(kind, subject)
    defer { leave(name) }
    let progress = TaskProgress { [weak self] percent in
      self?.state.withLock { $0.entries[name]?.report.percent = percent }
      onProgress(name, percent)
    }
    let task = Task { try await body(progress) }
    hasBegun(name) { task.cancel() }
    return try await withTaskCancellationHandler {
      (name, try await task.value)
    } onCancel: {
      task.cancel()
    }
  }

  // Never inlined into an asynchronous function: there the compiler (6.3.1) keeps the number of the
  // thread that took a lock over a suspension, and the lock is then given back by another thread.
  @inline(never)
  private func enter(_ kind: TaskKind, _ subject: String) -> String {
    state.withLock { state in
      state.started += 1
      let name = "\(kind.rawValue)-\(state.started)"
      let report = TaskReport(
        task: name, kind: kind, subject: subject, percent: nil,
        startedAt: DaemonStatus.systemMilliseconds())
      state.entries[name] = Entry(report: report)
      return name
    }
  }

  /// From now on it can be cancelled; it is, if somebody asked for that already.
  @inline(never)
  private func hasBegun(_ name: String, cancel: @escaping @Sendable () -> Void) {
    let isCancelled = state.withLock { state in
      state.entries[name]?.cancel = cancel
      return state.entries[name]?.isCancelled ?? false
    }
    if isCancelled { cancel() }
  }

  @inline(never)
  private func leave(_ name: String) { state.withLock { $0.entries[name] = nil } }
}

/// Thins what a task tells of how far it is: once per percent.
package final class TaskProgress: Sendable {
  private let thinner = Mutex(ProgressThinner<Int>())
  private let deliver: @Sendable (Int) -> Void

  init(_ deliver: @escaping @Sendable (Int) -> Void) { self.deliver = deliver }

  /// So much is done, of `total`.
  @inline(never)
  package func report(_ done: Int, of total: Int) {
    let now = Instant(nanoseconds: Int64(MonotonicClock.nanoseconds()))
    let percent = total > 0 ? Int(Double(done) / Double(total) * 100) : 100
    let due = thinner.withLock {
      $0.push(percent, completed: UInt64(max(0, done)), total: UInt64(max(0, total)), at: now)
        .output
    }
    if let due { deliver(due) }
  }
}
