import BatchDelivery
import Glibc
import JSON
import RateLimiting
import SystemSupport

/// One playback, as a loop that waits for input from the source, for the socket, or for the time of
/// the next line, until everything is played. Confined to the thread that runs it.
///
/// Input that cannot be read again is kept in numbered batches until the daemon acknowledges it.
/// Unacknowledged batches are sent again on the next connection.
final class PlaybackSession {
  /// The largest write, in bytes. Many small writes cost the daemon much more than one large write.
  private static let batch = 64 * 1024
  private static let progressInterval: Int64 = 100_000_000

  /// The number of unacknowledged bytes at which reading from the source pauses.
  private static let maximumWaiting = 8 << 20
  /// After the end of the input, how long to wait for an unreachable daemon, in nanoseconds.
  private static let patience: Int64 = 60_000_000_000

  private let connect: () throws(Failure) -> StreamSocket
  /// The connection; `nil` while the daemon is unreachable.
  private var socket: StreamSocket?
  private let source: any ByteSource
  private let wake: Int32
  private let onProgress: (@Sendable (PlaybackProgress) -> Void)?
  private let start = PlaybackSession.now()
  private var queue: PlaybackQueue
  private var syncs: SyncSchedule
  private var output: [UInt8] = []
  private var written = 0
  private var result = PlaybackResult()
  private var sourceHasEnded = false
  /// Why reading the source failed. Lines read before the failure are played and confirmed first.
  private var sourceFailure: Failure?
  private var sentFinalSync = false
  /// The reason that the daemon gave for closing the connection.
  private var refusal: String?
  private var nextProgress: Int64 = 0

  private let options: [UInt8]
  /// The unacknowledged batches; `nil` if losing the connection ends the playback.
  private var batches: DeliveryQueue?
  /// Bytes taken from the queue that do not form a batch yet, because they end in the middle of a
  /// line.
  private var piece: [UInt8] = []
  private var batchedLines = 0
  /// The counts that the daemon confirmed on earlier connections.
  private var confirmedBefore = SyncSchedule.Confirmed()
  private var confirmed = SyncSchedule.Confirmed()
  private let onConnection: @Sendable (Bool) -> Void
  private var retry = RetryDelay()
  private var nextAttempt: Int64 = 0
  private var awaySince: Int64 = 0
  private var hasBeenAnswered = false

  init(
    _ plan: PlaybackPlan, connect: @escaping () throws(Failure) -> StreamSocket,
    source: any ByteSource, wake: Int32, onProgress: (@Sendable (PlaybackProgress) -> Void)?,
    onConnection: @escaping @Sendable (Bool) -> Void
  ) throws(Failure) {
    socket = try connect()
    self.connect = connect
    self.source = source
    self.wake = wake
    self.onProgress = onProgress
    self.onConnection = onConnection
    queue = PlaybackQueue(speed: plan.speed, format: plan.format)
    let session = "livehostctl-\(getpid())-\(start)"
    syncs = SyncSchedule(prefix: session + "-", now: start)
    options = Array((plan.optionsLine ?? "").utf8)
    output = options
    if plan.reconnects || source.descriptor != nil {
      batches = DeliveryQueue(session: session, maximumBytes: Self.maximumWaiting)
    }
  }

  func run() throws(PlaybackInterrupted) -> PlaybackResult {
    do throws(Failure) {
      while true {
        let now = Self.now()
        report(now)
        try reconnect(now)
        let outcome = batches == nil ? fill(now) : fillBatches(now)
        if isFinished(outcome) { break }
        try wait(outcome, now)
      }
      report(Self.now(), isLast: true)
      if let sourceFailure { throw sourceFailure }
      return currentResult
    } catch {
      throw PlaybackInterrupted(failure: error, result: currentResult)
    }
  }

  /// Returns monotonic nanoseconds, signed because times are subtracted.
  private static func now() -> Int64 { Int64(MonotonicClock.nanoseconds()) }

  private var currentResult: PlaybackResult {
    var result = result
    result.lines = queue.lines
    result.confirmed = batches == nil ? syncs.confirmed : confirmed
    result.unknown = source.unknown
    result.appearance = source.appearance
    result.elapsedNanoseconds = Self.now() - start
    return result
  }

  private func isFinished(_ outcome: PlaybackQueue.Outcome) -> Bool {
    if let batches { return outcome == .ended && batches.isEmpty }
    return sentFinalSync && output.isEmpty && syncs.isSettled
  }

  // MARK: Reconnecting

  private func reconnect(_ now: Int64) throws(Failure) {
    guard socket == nil, now >= nextAttempt else { return }
    if sourceHasEnded, queue.count == 0, now - awaySince > Self.patience {
      throw Failure(
        .notReachable,
        "the daemon was unreachable for a minute; \(batches?.lines ?? 0) lines were not delivered")
    }
    do {
      socket = try connect()
      output = options
      result.reconnections += 1
      onConnection(true)
    } catch {
      nextAttempt = now + Interval(retry.next()).nanoseconds
    }
  }

  private func disconnected() {
    socket = nil
    (output, written) = ([], 0)
    confirmedBefore = confirmed
    batches?.disconnected()
    awaySince = Self.now()
    nextAttempt = awaySince + Interval(retry.next()).nanoseconds
    onConnection(false)
  }

  /// Moves due lines from the queue to the batches. Fills the output buffer once the previous write
  /// is complete.
  private func fillBatches(_ now: Int64) -> PlaybackQueue.Outcome {
    var outcome = PlaybackQueue.Outcome.full
    while outcome == .full, batches?.isFull() == false {
      outcome = moveDueLines(now, into: &piece)
      while outcome == .needsInput, source.descriptor == nil, !sourceHasEnded {
        readSource()
        outcome = moveDueLines(now, into: &piece)
      }
      guard !piece.isEmpty, !queue.isInsideLine else { continue }
      result.bytes += piece.count
      batches?.append(
        lines: piece, count: queue.lines - batchedLines, at: Instant(nanoseconds: now))
      (piece, batchedLines) = ([], queue.lines)
    }
    while socket != nil, output.count < Self.batch, let write = batches?.nextWrite() {
      output += write
    }
    return outcome
  }

  // MARK: Playing without batches

  /// Fills the output buffer once the previous write is complete.
  private func fill(_ now: Int64) -> PlaybackQueue.Outcome {
    guard output.isEmpty || written == 0 && output.count < Self.batch else { return .full }
    let before = output.count
    var outcome = moveDueLines(now, into: &output)
    while outcome == .needsInput, source.descriptor == nil, !sourceHasEnded {
      readSource()
      outcome = moveDueLines(now, into: &output)
    }
    result.bytes += output.count - before
    if !queue.isInsideLine {
      if outcome == .ended, !sentFinalSync {
        sentFinalSync = true
        output += syncs.lastLine(now: now, sentBytes: result.bytes).utf8
      } else if let line = syncs.line(now: now, sentBytes: result.bytes) {
        output += line.utf8
      }
    }
    return outcome
  }

  private func moveDueLines(_ now: Int64, into bytes: inout [UInt8]) -> PlaybackQueue.Outcome {
    do {
      return try queue.moveDueLines(now: now, limit: Self.batch, into: &bytes)
    } catch {
      sourceHasEnded = true
      sourceFailure = error
      queue.abandon()
      return .ended
    }
  }

  private func readSource() {
    do {
      if try source.read({ queue.append($0) }) { return }
    } catch {
      sourceFailure = error
      queue.dropUnended()
    }
    sourceHasEnded = true
    queue.finish()
  }

  private func wait(_ outcome: PlaybackQueue.Outcome, _ now: Int64) throws(Failure) {
    let readsSource = outcome == .needsInput && !sourceHasEnded
    var descriptors = [
      pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
      pollfd(
        fd: socket?.descriptor ?? -1, events: Int16(output.isEmpty ? POLLIN : POLLIN | POLLOUT),
        revents: 0
      ),
      // `poll` ignores negative descriptors.
      pollfd(fd: readsSource ? source.descriptor ?? -1 : -1, events: Int16(POLLIN), revents: 0),
    ]
    let count = poll(&descriptors, nfds_t(descriptors.count), timeout(outcome, now))
    if count < 0 {
      guard errno == EINTR else {
        throw Failure(.failed, "cannot wait: \(String(cString: strerror(errno)))")
      }
      return
    }
    if descriptors[0].revents != 0 { throw .interrupted }
    if descriptors[2].revents != 0 { readSource() }
    if descriptors[1].revents != 0 { try exchange() }
  }

  private func exchange() throws(Failure) {
    guard let socket else { return }
    let couldWrite = socket.write(&output, from: &written)
    let isOpen = socket.readLines(receiveAnswer)
    guard couldWrite, isOpen || sentFinalSync && syncs.isSettled else {
      // If the daemon refuses the first connection, it would refuse later connections for the same
      // reason.
      if batches != nil, hasBeenAnswered || refusal == nil { return disconnected() }
      throw Failure(
        .failed,
        refusal.map { "the daemon refused the connection: \($0)" }
          ?? "the daemon closed the connection")
    }
  }

  private func receiveAnswer(_ line: ArraySlice<UInt8>) {
    guard let answer = try? JSONValue(parsing: line), let type = answer["type"]?.stringValue
    else { return }
    if type == "refused" { refusal = answer["reason"]?.stringValue }
    guard ["synced", "applied"].contains(type), let token = answer["token"]?.stringValue,
      let received = answer["received"]?.integerValue,
      let rejected = answer["rejected"]?.integerValue
    else { return }
    let counts = SyncSchedule.Confirmed(
      received: Int(clamping: received), rejected: Int(clamping: rejected))
    let isOurs: Bool
    if batches != nil {
      isOurs = batches?.acknowledge(token: token) ?? false
      if isOurs {
        confirmed.received = confirmedBefore.received + counts.received
        confirmed.rejected = confirmedBefore.rejected + counts.rejected
        hasBeenAnswered = true
        retry.reset()
      }
    } else {
      isOurs = syncs.receive(
        token: token, received: counts.received, rejected: counts.rejected)
    }
    // The room is recorded, and the daemon has applied the lines but could not write them to disk.
    if isOurs, type == "applied", result.unrecorded == nil {
      result.unrecorded = answer["reason"]?.stringValue ?? "no reason given"
    }
  }

  /// Returns the milliseconds until the next scheduled step of the loop, rounded up; -1 if there is
  /// none.
  private func timeout(_ outcome: PlaybackQueue.Outcome, _ now: Int64) -> Int32 {
    var times: [Int64] = []
    // While a write is in progress, nothing can be added to the output, so the loop waits only for
    // the socket.
    if output.isEmpty || batches != nil {
      if case .waits(let time) = outcome { times.append(time) }
      if batches == nil, let time = syncs.nextTime(sentBytes: result.bytes), !queue.isInsideLine {
        times.append(time)
      }
    }
    if socket == nil { times.append(nextAttempt) }
    if onProgress != nil { times.append(nextProgress) }
    guard let first = times.min() else { return -1 }
    let left = max(0, first - now)
    return Int32(clamping: left / 1_000_000 + (left % 1_000_000 > 0 ? 1 : 0))
  }

  private func report(_ now: Int64, isLast: Bool = false) {
    guard let onProgress, isLast || now >= nextProgress else { return }
    nextProgress = now + Self.progressInterval
    onProgress(
      PlaybackProgress(
        fileBytes: source.fileBytes, fileSize: source.fileSize, lines: queue.lines,
        confirmed: currentResult.confirmed.received, waiting: socket == nil ? batches?.lines : nil,
        elapsedNanoseconds: now - start))
  }
}
