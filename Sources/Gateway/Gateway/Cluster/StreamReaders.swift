import JSON
import RateLimiting

/// The consumers through which a node reads streams: one for the leases, and one for the log of
/// each partition that it feeds to its daemon.
///
/// The caller passes the time, sends the requests that ``next(_:isPaused:at:)`` returns, and passes
/// in the messages.
struct StreamReaders {
  enum Reader: Hashable {
    case leases
    case log(Partition)
  }

  private var watch: LogConsumer
  private var logs: [Partition: LogConsumer] = [:]
  /// For each reader, the token to which the messages of its newest pull are sent.
  private var pulls: [Reader: String] = [:]
  /// The time at which a lease was last read, or at which the watch began.
  private(set) var lastLease: Instant

  init(at now: Instant) {
    (watch, lastLease) = (Self.leases(at: now), now)
  }

  private static func leases(at now: Instant) -> LogConsumer {
    LogConsumer(
      stream: ClusterStreams.leases, filter: ClusterStreams.leaseSubject + ">", isLastOnly: true,
      at: now)
  }

  var all: [Reader] { [.leases] + logs.keys.map { .log($0) } }

  /// Whether all entries that existed when the watch began have been read.
  var hasAllLeases: Bool { watch.isCurrent }

  /// Returns whether everything has been read that was in a partition's log when reading began.
  func isCurrent(_ partition: Partition) -> Bool { logs[partition]?.isCurrent == true }

  /// Reads the leases from the beginning.
  mutating func watchAnew(at now: Instant) {
    (watch, lastLease) = (Self.leases(at: now), now)
  }

  /// Reads the log of a partition, starting after a sequence.
  mutating func begin(_ partition: Partition, after sequence: UInt64, at now: Instant) {
    precondition(logs[partition] == nil, "partition \(partition) is read twice")
    logs[partition] = LogConsumer(
      stream: partition.stream, filter: partition.logSubjects, after: sequence, at: now)
  }

  mutating func end(_ partition: Partition) {
    logs[partition] = nil
    pulls[.log(partition)] = nil
  }

  mutating func endLogs() {
    logs = [:]
    pulls = pulls.filter { $0.key == .leases }
  }

  /// Drops all unanswered pulls, because the connection is lost and no answers will arrive.
  mutating func disconnect(at now: Instant) {
    pulls = [:]
    watchAnew(at: now)
    for partition in logs.keys { logs[partition]?.disconnected(at: now) }
  }

  /// Returns the reader that requested a message; `nil` if none did.
  func reader(of message: NatsMessage) -> Reader? {
    guard message.isFromStream else { return pulls.first { $0.value == message.token }?.key }
    if message.subject.hasPrefix(ClusterStreams.leaseSubject) { return .leases }
    let tokens = message.subject.split(separator: ".")
    guard tokens.count == 4, let number = Int(tokens[2]) else { return nil }
    return .log(Partition(number: number))
  }

  /// Returns the metadata of a message if it is the next message of its stream; `nil` for any other
  /// message, including a status that ends a pull.
  mutating func receive(
    _ message: NatsMessage, by reader: Reader, at now: Instant
  ) -> LogConsumer.Metadata? {
    let metadata = change(reader) { consumer -> LogConsumer.Metadata? in
      if message.isFromStream { return consumer.received(reply: message.reply ?? "", at: now) }
      consumer.ended(status: message.status ?? 0, reason: message.description ?? "", at: now)
      return nil
    }
    if reader == .leases, metadata != nil { lastLease = now }
    return metadata
  }

  /// Returns the request that a reader must send now. No log is read while `isPaused`.
  mutating func next(_ reader: Reader, isPaused: Bool, at now: Instant) -> LogConsumer.Action? {
    change(reader) { $0.tick(isPaused: reader != .leases && isPaused, at: now) }
  }

  /// Records the servers' answer to the request to create a consumer; `nil` if none arrived in
  /// time.
  mutating func created(_ reply: JSONValue?, for reader: Reader, at now: Instant) {
    _ = change(reader) { $0.created(reply, at: now) }
  }

  /// Records that a pull was sent, whose messages will arrive on the subject of `token`.
  mutating func pull(_ reader: Reader, to token: String) { pulls[reader] = token }

  /// Changes the consumer of a reader, unless its partition is no longer read.
  private mutating func change<Result>(
    _ reader: Reader, _ body: (inout LogConsumer) -> Result?
  ) -> Result? {
    guard case .log(let partition) = reader else { return body(&watch) }
    guard var consumer = logs[partition] else { return nil }
    defer { logs[partition] = consumer }
    return body(&consumer)
  }
}
