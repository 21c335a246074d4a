import DequeModule
import Locking
import Synchronization
import SystemSupport

/// The thread that writes the log and all recordings by group commit: everything posted while it
/// waits for the disk forms the next group.
final class RecordingWriter: Sendable {
  private struct Inbox: Sendable {
    var commands: Deque<Command> = []
    var isAwake = false
    /// Whether a sender is waiting for one of the commands.
    var isUrgent = false
    var isClosed = false
  }

  private enum Command: Sendable {
    case batch(UInt64, RecordedBatch, RecorderLoad)
    case job(@Sendable (RecordingStore) -> Void)

    var isUrgent: Bool {
      if case .batch(_, let batch, _) = self { !batch.completions.isEmpty } else { true }
    }
  }

  private let inbox = Guarded(Inbox())
  private let signal: WakeSignal
  /// The load of all rooms together.
  let load = RecorderLoad()

  /// The progress of a recovery.
  let progress: RecoveryProgress
  private let pings: Pings

  /// Callbacks that show that the thread is running.
  private final class Pings: Sendable {
    private let waiting = Guarded<[@Sendable () -> Void]>([])

    func add(_ body: @escaping @Sendable () -> Void) { waiting.withLock { $0.append(body) } }
    func answer() { for body in waiting.withLock({ exchange(&$0, with: []) }) { body() } }
  }

  /// - Parameter makeStore: called once, on the thread.
  init(
    _ makeStore: @escaping @Sendable (RecoveryProgress) -> RecordingStore
  ) throws(SystemError) {
    signal = try WakeSignal()
    let pings = Pings()
    // A recovery may take a long time, so it answers pings after each block.
    let progress = RecoveryProgress { _ in pings.answer() }
    self.pings = pings
    self.progress = progress
    try ServiceThread.start(name: "recorder") { [self] in work(makeStore(progress)) }
  }

  /// Queues a batch, and wakes the thread if it is sleeping. Takes a short lock, and never waits
  /// for the disk.
  ///
  /// - Parameter number: the number of the room's ``LogWriter``.
  func post(_ batch: RecordedBatch, of number: UInt64, _ load: RecorderLoad) {
    post(.batch(number, batch, load))
  }

  /// Runs `body` on the thread after everything posted before, and returns its result.
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

  /// Runs `body` on the thread after everything posted before. Does nothing after ``close()``.
  func submit(_ body: @escaping @Sendable (RecordingStore) -> Void) { post(.job(body)) }

  /// Calls `body` on the thread as soon as it is not waiting for the disk; immediately after
  /// ``close()``.
  func ping(_ body: @escaping @Sendable () -> Void) {
    pings.add(body)
    if !post(.job { [pings] _ in pings.answer() }) { pings.answer() }
  }

  /// Ends the thread after it has done everything posted before.
  func close() {
    inbox.withLock { $0.isClosed = true }
    signal.raise()
  }

  @discardableResult
  private func post(_ command: Command) -> Bool {
    let (isAccepted, mustWake) = inbox.withLock { inbox in
      guard !inbox.isClosed else { return (false, false) }
      inbox.commands.append(command)
      let isUrgent = command.isUrgent && !inbox.isUrgent
      defer {
        inbox.isAwake = true
        inbox.isUrgent = inbox.isUrgent || isUrgent
      }
      return (true, !inbox.isAwake || isUrgent)
    }
    if mustWake { signal.raise() }
    return isAccepted
  }

  /// Returns the commands posted since the last call; `nil` if there are none and the writer is
  /// closed.
  private func takeCommands() -> Deque<Command>? {
    inbox.withLock { inbox in
      if inbox.commands.isEmpty {
        inbox.isAwake = false
        return inbox.isClosed ? nil : []
      }
      let commands = inbox.commands
      inbox.commands = []
      inbox.isUrgent = false
      return commands
    }
  }

  /// How long batches are gathered if nothing is waiting for them, in nanoseconds. With many rooms,
  /// waking the thread for each batch would cost more than writing it.
  private static let gathering: UInt64 = 5_000_000

  private func work(_ store: RecordingStore) {
    while var commands = takeCommands() {
      guard !commands.isEmpty || store.isDue(MonotonicClock.nanoseconds()) else {
        let now = MonotonicClock.nanoseconds()
        let isRaised = signal.wait(nanoseconds: store.deadline.map { $0 > now ? $0 - now : 0 })
        if isRaised, !inbox.withLock({ $0.isUrgent || $0.isClosed }) {
          _ = signal.wait(nanoseconds: Self.gathering)
        }
        continue
      }
      // Removed one by one: iterating over a copy would retain all batches until the end.
      while let command = commands.popFirst() {
        switch command {
        case .batch(let number, let batch, let load):
          store.append(batch, of: number, now: MonotonicClock.nanoseconds())
          load.subtract(batch)
        case .job(let job): job(store)
        }
      }
      store.commit(now: MonotonicClock.nanoseconds())
    }
  }
}

/// The number of steps and bytes that are waiting for the disk. May be used from any thread.
final class RecorderLoad: Sendable {
  private let waitingSteps = Atomic<Int>(0)
  private let waitingBytes = Atomic<Int>(0)
  /// The load of all rooms, which includes this one.
  private let total: RecorderLoad?

  init(of total: RecorderLoad? = nil) { self.total = total }

  /// Adds a posted batch. Returns the number of steps that are waiting now.
  @discardableResult
  func add(_ batch: RecordedBatch) -> Int {
    total?.add(batch)
    waitingBytes.wrappingAdd(batch.byteCount, ordering: .relaxed)
    return waitingSteps.wrappingAdd(batch.stepCount, ordering: .relaxed).newValue
  }

  /// Subtracts a batch that was written or lost.
  func subtract(_ batch: RecordedBatch) {
    total?.subtract(batch)
    waitingBytes.wrappingSubtract(batch.byteCount, ordering: .relaxed)
    waitingSteps.wrappingSubtract(batch.stepCount, ordering: .relaxed)
  }

  /// The number of events, frames and changes.
  var steps: Int { waitingSteps.load(ordering: .relaxed) }
  /// The size in bytes of the lines in which the events were received.
  var bytes: Int { waitingBytes.load(ordering: .relaxed) }
}
