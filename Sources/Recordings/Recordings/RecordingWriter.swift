import Synchronization
import Systemd

/// The thread that writes all recordings: what comes while it is at the disk is its next group.
final class RecordingWriter: Sendable {
  private struct Inbox: Sendable {
    var orders: [Order] = []
    var isAwake = false
    var isClosed = false
  }

  private enum Order: Sendable {
    case batch(UInt64, RecordedBatch, RecorderLoad)
    case job(@Sendable (Shelf) -> Void)
  }

  private let inbox = Mutex(Inbox())
  private let signal: WakeSignal
  /// What waits for the disk, of all recordings.
  let load = RecorderLoad()

  /// - Parameter makeShelf: called on the thread, once.
  init(_ makeShelf: @escaping @Sendable () -> Shelf) throws(SystemdError) {
    signal = try WakeSignal()
    try ServiceThread.start(name: "recorder") { [self] in work(makeShelf()) }
  }

  /// Hands a batch over. Never blocks but for a short lock; wakes the thread if it sleeps.
  func post(_ batch: RecordedBatch, to session: UInt64, _ load: RecorderLoad) {
    post(.batch(session, batch, load))
  }

  /// Has `body` run on the thread, after all that was posted before.
  func perform<R: Sendable>(
    _ body: @escaping @Sendable (Shelf) throws(RecordingError) -> R
  ) async throws(RecordingError) -> R {
    let result: Result<R, RecordingError> = await withCheckedContinuation { continuation in
      let isTaken = post(
        .job { shelf in
          do throws(RecordingError) {
            continuation.resume(returning: .success(try body(shelf)))
          } catch {
            continuation.resume(returning: .failure(error))
          }
        })
      if !isTaken { continuation.resume(returning: .failure(.closing)) }
    }
    return try result.get()
  }

  /// Ends the thread once all that was posted is done.
  func close() {
    inbox.withLock { $0.isClosed = true }
    signal.raise()
  }

  @discardableResult
  private func post(_ order: Order) -> Bool {
    let (isTaken, mustWake) = inbox.withLock { inbox in
      guard !inbox.isClosed else { return (false, false) }
      inbox.orders.append(order)
      defer { inbox.isAwake = true }
      return (true, !inbox.isAwake)
    }
    if mustWake { signal.raise() }
    return isTaken
  }

  /// What was posted; `nil` at the end.
  private func take() -> [Order]? {
    inbox.withLock { inbox in
      if inbox.orders.isEmpty {
        inbox.isAwake = false
        return inbox.isClosed ? nil : []
      }
      let orders = inbox.orders
      inbox.orders = []
      return orders
    }
  }

  private func work(_ shelf: Shelf) {
    while let orders = take() {
      guard !orders.isEmpty || shelf.isDue(MonotonicClock.nanoseconds()) else {
        let now = MonotonicClock.nanoseconds()
        _ = signal.wait(nanoseconds: shelf.deadline.map { $0 > now ? $0 - now : 0 })
        continue
      }
      for order in orders {
        switch order {
        case .batch(let session, let batch, let load):
          shelf.append(batch, to: session, now: MonotonicClock.nanoseconds())
          load.written(batch.eventCount)
        case .job(let job): job(shelf)
        }
      }
      shelf.commit(now: MonotonicClock.nanoseconds())
    }
  }
}

/// How much of a recording waits for the disk. May be used from any thread.
final class RecorderLoad: Sendable {
  private let waiting = Atomic<Int>(0)
  /// That of all recorders together.
  private let total: RecorderLoad?

  init(of total: RecorderLoad? = nil) { self.total = total }

  /// Counts events handed over; gives how many wait now.
  @discardableResult
  func handOver(_ events: Int) -> Int {
    total?.handOver(events)
    return waiting.wrappingAdd(events, ordering: .relaxed).newValue
  }

  func written(_ events: Int) {
    total?.written(events)
    waiting.wrappingSubtract(events, ordering: .relaxed)
  }

  var events: Int { waiting.load(ordering: .relaxed) }
}
