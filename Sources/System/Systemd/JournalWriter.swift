import Locking
package import SystemSupport

/// Writes log records to the journal on a dedicated thread, so that a slow or stalled journald
/// never blocks a thread that logs.
///
/// The queue is bounded (``JournalLimits``). Records that do not fit are counted, reported in an
/// `entries-lost` entry afterwards, and available as ``lost``. The thread keeps the writer alive
/// until ``close(timeoutNanoseconds:)``.
package final class JournalWriter: Sendable {
  /// Writes one entry, and returns 0 or a negative `errno`. May block.
  package typealias Sink = @Sendable (JournalPayload) -> Int32

  private struct State {
    var queue: JournalQueue
    var writerSleeps = false
    var writerIsDone = false
    var flushing = 0
    var closed = false
    var waiters: [WakeSignal] = []
    var pings: [@Sendable () -> Void] = []
  }

  private let state: Guarded<State>
  private let wake: WakeSignal
  private let identifier: String
  private let sink: Sink

  /// Starts the thread that writes to the journal, with `identifier` as the `SYSLOG_IDENTIFIER` of
  /// all entries.
  package convenience init(
    identifier: String, limits: JournalLimits = JournalLimits()
  ) throws(SystemError) {
    try self.init(identifier: identifier, limits: limits) { $0.send() }
  }

  package init(
    identifier: String, limits: JournalLimits, sink: @escaping Sink
  ) throws(SystemError) {
    state = Guarded(State(queue: JournalQueue(limits: limits)))
    wake = try WakeSignal()
    self.identifier = identifier
    self.sink = sink
    try ServiceThread.start(name: "journal") { self.run() }
  }

  /// The entries that did not reach the journal since the start. Callable from any thread. Takes
  /// O(1).
  package var lost: LostEntries { state.withLock { $0.queue.totalLost } }

  /// Queues a record. Never waits for journald.
  package func offer(_ record: LogRecord) {
    let now = MonotonicClock.nanoseconds()
    let mustWake = state.withLock { state in
      if state.writerIsDone {
        state.queue.refuse(record)
        return false
      }
      _ = state.queue.offer(record, now: now)
      defer { state.writerSleeps = false }
      return state.writerSleeps
    }
    if mustWake { wake.raise() }
  }

  /// Calls `body` on the writing thread, after any write in progress.
  package func ping(_ body: @escaping @Sendable () -> Void) {
    state.withLock { state in
      state.pings.append(body)
      state.writerSleeps = false
    }
    wake.raise()
  }

  /// Waits until everything logged before is written, including repeat counts. Returns false if the
  /// timeout passes first, because a stalled journald must not block the end of the program.
  @discardableResult
  package func flush(timeoutNanoseconds: UInt64) -> Bool {
    guard let signal = try? WakeSignal() else {
      // Without a free descriptor, waiting is impossible. The writer continues, but completion is
      // unknown.
      wake.raise()
      return false
    }
    state.withLock { state in
      state.flushing += 1
      state.waiters.append(signal)
      if state.writerIsDone { signal.raise() }
      state.writerSleeps = false
    }
    wake.raise()
    let done = signal.wait(nanoseconds: timeoutNanoseconds)
    state.withLock { state in
      state.flushing -= 1
      state.waiters.removeAll { $0 === signal }
    }
    return done
  }

  /// Writes everything that is queued, then ends the thread. Records offered later are lost.
  @discardableResult
  package func close(timeoutNanoseconds: UInt64) -> Bool {
    state.withLock { $0.closed = true }
    return flush(timeoutNanoseconds: timeoutNanoseconds)
  }

  private enum Step {
    case write(JournalQueue.Output)
    case sleep(until: UInt64?)
    case end
  }

  private func run() {
    while true {
      let (step, pings) = nextStep()
      for ping in pings { ping() }
      switch step {
      case .write(let output):
        if sink(JournalPayload(output, identifier: identifier)) < 0 {
          let now = MonotonicClock.nanoseconds()
          state.withLock { $0.queue.failed(output, now: now) }
        }
      case .sleep(let until):
        let now = MonotonicClock.nanoseconds()
        _ = wake.wait(nanoseconds: until.map { $0 > now ? $0 - now : 0 })
      case .end:
        return
      }
    }
  }

  private func nextStep() -> (Step, pings: [@Sendable () -> Void]) {
    let now = MonotonicClock.nanoseconds()
    return state.withLock { state in
      let pings = exchange(&state.pings, with: [])
      // ``close(timeoutNanoseconds:)`` sets `closed` first and begins its flush slightly later. The
      // thread must not end in between, because repeat counts would be lost.
      let flushing = state.flushing > 0 || state.closed
      if let output = state.queue.next(now: now, flushing: flushing) {
        return (.write(output), pings)
      }
      // Nothing is queued or being written, so flushes are complete.
      for waiter in state.waiters { waiter.raise() }
      state.waiters.removeAll()
      if state.closed {
        state.writerIsDone = true
        return (.end, pings)
      }
      state.writerSleeps = true
      return (.sleep(until: state.queue.nextWake), pings)
    }
  }
}
