import Platform
import Synchronization

/// The thread that writes all recordings, by group commit: whatever arrives while it waits for the
/// disk forms the next group.
final class RecordingWriter: Sendable {
  private struct Inbox: Sendable {
    var commands: [Command] = []
    var isAwake = false
    var isClosed = false
  }

  private enum Command: Sendable {
    case batch(UInt64, RecordedBatch, RecorderLoad)
    case job(@Sendable (RecordingStore) -> Void)
  }

  private let inbox = Guarded(Inbox())
  private let signal: WakeSignal
  /// What is waiting for the disk, of all recordings.
  let load = RecorderLoad()

  /// - Parameter makeStore: called once, on the thread.
  init(_ makeStore: @escaping @Sendable () -> RecordingStore) throws(SystemError) {
    signal = try WakeSignal()
    try ServiceThread.start(name: "recorder") { [self] in work(makeStore()) }
  }

  /// Hands a batch over. Takes a short lock but never blocks otherwise; wakes the thread if it
  /// sleeps.
  func post(_ batch: RecordedBatch, to session: UInt64, _ load: RecorderLoad) {
    post(.batch(session, batch, load))
  }

  /// Runs `body` on the thread, after everything posted before.
  func perform<R: Sendable>(
    _ body: @escaping @Sendable (RecordingStore) throws(RecordingError) -> R
  ) async throws(RecordingError) -> R {
    let result: Result<R, RecordingError> = await withCheckedContinuation { continuation in
      let isAccepted = post(
        .job { store in
          do throws(RecordingError) {
            continuation.resume(returning: .success(try body(store)))
          } catch {
            continuation.resume(returning: .failure(error))
          }
        })
      if !isAccepted { continuation.resume(returning: .failure(.closing)) }
    }
    return try result.get()
  }

  /// Ends the thread once everything posted is done.
  func close() {
    inbox.withLock { $0.isClosed = true }
    signal.raise()
  }

  @discardableResult
  private func post(_ command: Command) -> Bool {
    let (isAccepted, mustWake) = inbox.withLock { inbox in
      guard !inbox.isClosed else { return (false, false) }
      inbox.commands.append(command)
      defer { inbox.isAwake = true }
      return (true, !inbox.isAwake)
    }
    if mustWake { signal.raise() }
    return isAccepted
  }

  /// The commands posted since the last call; `nil` once the writer is closed and has done them
  /// all.
  private func takeCommands() -> [Command]? {
    inbox.withLock { inbox in
      if inbox.commands.isEmpty {
        inbox.isAwake = false
        return inbox.isClosed ? nil : []
      }
      let commands = inbox.commands
      inbox.commands = []
      return commands
    }
  }

  private func work(_ store: RecordingStore) {
    while let commands = takeCommands() {
      guard !commands.isEmpty || store.isDue(MonotonicClock.nanoseconds()) else {
        let now = MonotonicClock.nanoseconds()
        _ = signal.wait(nanoseconds: store.deadline.map { $0 > now ? $0 - now : 0 })
        continue
      }
      for command in commands {
        switch command {
        case .batch(let session, let batch, let load):
          store.append(batch, to: session, now: MonotonicClock.nanoseconds())
          load.subtract(batch.eventCount)
        case .job(let job): job(store)
        }
      }
      store.commit(now: MonotonicClock.nanoseconds())
    }
  }
}

/// How many events are waiting for the disk. May be used from any thread.
final class RecorderLoad: Sendable {
  private let waiting = Atomic<Int>(0)
  /// The load of all recorders together, in which this one is included.
  private let total: RecorderLoad?

  init(of total: RecorderLoad? = nil) { self.total = total }

  /// Counts events handed over. Returns how many are waiting now.
  @discardableResult
  func add(_ events: Int) -> Int {
    total?.add(events)
    return waiting.wrappingAdd(events, ordering: .relaxed).newValue
  }

  /// Counts events that no longer wait: they are written or lost.
  func subtract(_ events: Int) {
    total?.subtract(events)
    waiting.wrappingSubtract(events, ordering: .relaxed)
  }

  var events: Int { waiting.load(ordering: .relaxed) }
}
