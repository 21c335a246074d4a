import Glibc
import JSON
import Platform

/// One playback over one connection: a loop that waits for the source, the socket, the time of the
/// next line or the end, whichever comes first. Confined to the thread that runs it.
final class PlaybackSession {
  /// The largest write. Many small writes cost the daemon much more than one large one.
  private static let batch = 64 * 1024
  private static let progressInterval: Int64 = 100_000_000

  private let socket: StreamSocket
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
  /// Why the source failed. Everything read until then is played and confirmed first.
  private var sourceFailure: Failure?
  private var sentFinalSync = false
  /// Why the daemon closes the connection.
  private var refusal: String?
  private var nextProgress: Int64 = 0

  init(
    _ plan: PlaybackPlan, socket: StreamSocket, source: any ByteSource, wake: Int32,
    onProgress: (@Sendable (PlaybackProgress) -> Void)?
  ) {
    self.socket = socket
    self.source = source
    self.wake = wake
    self.onProgress = onProgress
    queue = PlaybackQueue(speed: plan.speed, format: plan.format)
    syncs = SyncSchedule(prefix: "livehostctl-\(getpid())-\(start)-", now: start)
    output = Array((plan.optionsLine ?? "").utf8)
  }

  func run() throws(PlaybackInterrupted) -> PlaybackResult {
    do throws(Failure) {
      while true {
        let now = Self.now()
        report(now)
        let outcome = fill(now)
        if sentFinalSync, output.isEmpty, syncs.isSettled { break }
        try wait(outcome, now)
      }
      report(Self.now(), isLast: true)
      if let sourceFailure { throw sourceFailure }
      return currentResult
    } catch {
      throw PlaybackInterrupted(failure: error, result: currentResult)
    }
  }

  /// Monotonic nanoseconds; signed, since times are subtracted.
  private static func now() -> Int64 { Int64(MonotonicClock.nanoseconds()) }

  private var currentResult: PlaybackResult {
    var result = result
    result.lines = queue.lines
    result.confirmed = syncs.confirmed
    result.unknown = source.unknown
    result.elapsedNanoseconds = Self.now() - start
    return result
  }

  /// Fills the next write once the previous one is done.
  private func fill(_ now: Int64) -> PlaybackQueue.Outcome {
    guard output.isEmpty || written == 0 && output.count < Self.batch else { return .full }
    let before = output.count
    var outcome = take(now)
    while outcome == .needsInput, source.descriptor == nil, !sourceHasEnded {
      readSource()
      outcome = take(now)
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

  private func take(_ now: Int64) -> PlaybackQueue.Outcome {
    do {
      return try queue.take(now: now, limit: Self.batch, into: &output)
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
        fd: socket.descriptor, events: Int16(output.isEmpty ? POLLIN : POLLIN | POLLOUT), revents: 0
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
    let couldWrite = socket.write(&output, from: &written)
    let isOpen = socket.readLines(take)
    guard couldWrite, isOpen || sentFinalSync && syncs.isSettled else {
      throw Failure(
        .failed,
        refusal.map { "the daemon refused the connection: \($0)" }
          ?? "the daemon closed the connection")
    }
  }

  private func take(_ line: ArraySlice<UInt8>) {
    guard let answer = try? JSONValue(parsing: line), let type = answer["type"]?.stringValue
    else { return }
    if type == "refused" { refusal = answer["reason"]?.stringValue }
    guard ["synced", "applied"].contains(type), let token = answer["token"]?.stringValue,
      let received = answer["received"]?.integerValue,
      let rejected = answer["rejected"]?.integerValue
    else { return }
    let isOurs = syncs.receive(
      token: token, received: Int(clamping: received), rejected: Int(clamping: rejected))
    // Applied, but not on disk although the room should have recorded it.
    if isOurs, type == "applied", result.unrecorded == nil {
      result.unrecorded = answer["reason"]?.stringValue ?? "no reason given"
    }
  }

  /// Milliseconds until something is due, rounded up; -1 if nothing is.
  private func timeout(_ outcome: PlaybackQueue.Outcome, _ now: Int64) -> Int32 {
    var times: [Int64] = []
    // While a write is waiting for the daemon, nothing is added to it: only the socket matters.
    if output.isEmpty {
      if case .waits(let time) = outcome { times.append(time) }
      if let time = syncs.nextTime(sentBytes: result.bytes), !queue.isInsideLine {
        times.append(time)
      }
    }
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
        confirmed: syncs.confirmed.received, elapsedNanoseconds: now - start))
  }
}
