import Ingest
import RateLimiting

/// The problems that a node has with the NATS servers and its daemon.
struct NodeProblems {
  /// The problems with the streams that the node found when it started.
  private let streams: [Problem]
  /// For each stream of the log that accepts no messages, the reason that the servers gave.
  private var refusals: [String: String] = [:]
  /// The time of the last write by this node that a majority of the servers accepted.
  private var lastWrite = Instant.origin

  init(streams: [String] = []) { self.streams = streams.map { Problem($0, $0) } }

  mutating func recordWrite(at now: Instant) { lastWrite = now }

  /// - Parameter reason: `nil` if the servers did not answer.
  mutating func recordRefusal(of stream: String, _ reason: String?) { refusals[stream] = reason }

  mutating func recordMessage(in stream: String) { refusals[stream] = nil }

  /// The problems with streams, which last until an administrator solves them.
  var lasting: [Problem] { streams }

  func current(
    isConnected: Bool, hasDaemon: Bool, _ keeper: LeaseKeeper,
    _ appender: LogAppender<DeliveryReceipt>, at now: Instant
  ) -> [Problem] {
    var problems: [Problem] = []
    if !isConnected {
      problems.append(
        Problem("connection", "no NATS server can be reached: nothing is acknowledged"))
    } else if now - lastWrite >= keeper.settings.duration, keeper.isTiming {
      problems.append(
        Problem("writes", "the NATS servers accept no writes: nothing is acknowledged"))
    } else if keeper.drainReasons.contains(.slow) {
      let milliseconds = keeper.timing.newest.nanoseconds / 1_000_000
      problems.append(
        Problem(
          "slow",
          "the NATS servers answer after \(milliseconds) ms, too late for leases:"
            + " this node leads no rooms"))
    }
    if !hasDaemon {
      problems.append(
        Problem(
          "daemon",
          keeper.isDraining
            ? "livehostd cannot be reached: other nodes lead its rooms"
            : "livehostd cannot be reached: its rooms receive no events"))
    }
    if let since = appender.waitingSince, now - since >= .seconds(2) {
      let seconds = (now - since).nanoseconds / 1_000_000_000
      let reasons = refusals.sorted { $0.key < $1.key }.map { "\($0): \($1)" }
      problems.append(
        Problem(
          "log",
          reasons.isEmpty
            ? "the replicated log has not answered for \(seconds) s: senders wait"
            : "the replicated log has accepted no messages for \(seconds) s"
              + " (\(reasons.joined(separator: "; "))): senders wait"))
    }
    return problems
  }
}
