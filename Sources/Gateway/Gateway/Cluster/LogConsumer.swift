package import JSON
package import RateLimiting

/// Reads a stream in order and without gaps. To do so, it uses a consumer on the server, which may
/// vanish at any time.
///
/// The consumer keeps no state on the server. If it vanishes or a message is missing, another
/// consumer is created that starts after the last message read. Messages are requested in limited
/// numbers (pulled), so that the server does not send more than a busy reader can process. The
/// caller passes the time.
package struct LogConsumer: Sendable {
  package enum Action: Equatable, Sendable {
    case create(subject: String, body: JSONValue)
    /// Request messages from the server.
    case pull(subject: String, body: JSONValue)
  }

  private enum State: Equatable {
    case absent(next: Instant)
    case creating(since: Instant)
    case idle(String)
    case pulling(String, since: Instant, remaining: Int)
  }

  private static let batch = 200
  /// The maximum number of bytes that one pull requests. It exceeds the longest message and its
  /// subject; a longer message would never be sent.
  private static let batchBytes: Int64 = 2 << 20
  private static let expiry = Interval.seconds(2)
  /// How long to wait for an answer to a pull. This is longer than ``expiry``, after which the
  /// server answers that there are no messages.
  private static let patience = Interval.seconds(4)
  private static let pause = Interval.milliseconds(250)

  package let stream: String
  private let filter: String
  private let isLastOnly: Bool
  private var state: State
  /// The sequence of the last message read.
  package private(set) var last: UInt64
  private var expected = 1
  /// The number of unread messages among those that existed when reading began; `Int.max` while
  /// unknown.
  private var left = Int.max
  /// Whether every message that existed when reading began has been read.
  package var isCurrent: Bool { left <= 0 }

  /// - Parameters:
  ///   - after: the sequence after which to start.
  ///   - isLastOnly: whether each new consumer starts with the newest message of each subject
  ///     instead.
  package init(
    stream: String, filter: String, after: UInt64 = 0, isLastOnly: Bool = false, at now: Instant
  ) {
    (self.stream, self.filter, self.isLastOnly) = (stream, filter, isLastOnly)
    last = after
    state = .absent(next: now)
  }

  /// Returns the request to send now, if any.
  /// - Parameter isPaused: whether reading is paused.
  package mutating func tick(isPaused: Bool = false, at now: Instant) -> Action? {
    switch state {
    case .creating(let since) where now - since >= Self.patience,
      .pulling(_, let since, _) where now - since >= Self.patience:
      state = .absent(next: now)
    default: break
    }
    switch state {
    case .absent(let next):
      guard now >= next else { return nil }
      state = .creating(since: now)
      expected = 1
      if isLastOnly { last = 0 }
      return .create(subject: "$JS.API.CONSUMER.CREATE.\(stream)", body: configuration)
    case .idle(let name):
      guard !isPaused else { return nil }
      state = .pulling(name, since: now, remaining: Self.batch)
      return .pull(
        subject: "$JS.API.CONSUMER.MSG.NEXT.\(stream).\(name)",
        body: [
          "batch": .integer(Int64(Self.batch)), "max_bytes": .integer(Self.batchBytes),
          "expires": .integer(Self.expiry.nanoseconds),
        ])
    case .creating, .pulling: return nil
    }
  }

  private var configuration: JSONValue {
    var members: [JSONName: JSONValue] = [
      "ack_policy": "none", "mem_storage": true, "num_replicas": 1,
      "inactive_threshold": .integer(30_000_000_000), "filter_subject": .string(filter),
      "replay_policy": "instant",
    ]
    if isLastOnly {
      members["deliver_policy"] = "last_per_subject"
    } else {
      members["deliver_policy"] = "by_start_sequence"
      members["opt_start_seq"] = .integer(Int64(clamping: last + 1))
    }
    return ["stream_name": .string(stream), "config": .object(members)]
  }

  /// Records whether the server has created the consumer.
  package mutating func created(_ reply: JSONValue?, at now: Instant) {
    guard case .creating = state else { return }
    guard let name = reply?["name"]?.stringValue else { return lost(at: now) }
    left = min(left, reply?["num_pending"]?.integerValue.map { Int($0) } ?? left)
    state = .idle(name)
  }

  /// Records that a message has arrived, whose `$JS.ACK` subject is given. Returns its metadata;
  /// `nil` if the message must be ignored.
  package mutating func received(reply: String, at now: Instant) -> Metadata? {
    guard case .pulling(let name, _, let remaining) = state, let metadata = Metadata(reply),
      metadata.consumer == name
    else { return nil }
    guard metadata.delivered == expected, metadata.sequence > last else {
      lost(at: now)
      return nil
    }
    expected += 1
    last = metadata.sequence
    left = metadata.pending == 0 ? 0 : left - 1
    state = remaining > 1 ? .pulling(name, since: now, remaining: remaining - 1) : .idle(name)
    return metadata
  }

  /// Records that a pull was answered with a status instead of a message.
  /// - Parameter reason: the server's description of the status.
  package mutating func ended(status: Int, reason: String = "", at now: Instant) {
    guard case .pulling(let name, _, _) = state else { return }
    switch status {
    case 404, 408:
      left = 0
      state = .idle(name)
    // The pull has ended, because the next message is longer than the number of bytes that were
    // left.
    case 409 where reason.hasSuffix("MaxBytes"): state = .idle(name)
    case 409: state = .absent(next: now)
    default: lost(at: now)
    }
  }

  /// Records that the connection is lost. The consumer may no longer exist.
  package mutating func disconnected(at now: Instant) { state = .absent(next: now) }

  private mutating func lost(at now: Instant) { state = .absent(next: now + Self.pause) }

  /// The metadata in a subject `$JS.ACK.STREAM.CONSUMER.DELIVERED.SEQUENCE.NUMBER.TIME.PENDING`.
  /// Newer servers insert two more tokens after `ACK`.
  package struct Metadata {
    package let sequence: UInt64
    /// The time at which the servers stored the message, in nanoseconds since 1970 by the clock of
    /// the stream's leader.
    package let written: UInt64
    fileprivate let consumer: Substring
    fileprivate let delivered: Int
    fileprivate let pending: Int

    init?(_ subject: String) {
      let tokens = subject.split(separator: ".")
      let start = tokens.count >= 11 ? 4 : 2
      guard tokens.count >= 9, tokens[0] == "$JS", tokens[1] == "ACK",
        let sequence = UInt64(tokens[start + 3]), let delivered = Int(tokens[start + 4]),
        let written = UInt64(tokens[start + 5]), let pending = Int(tokens[start + 6])
      else { return nil }
      consumer = tokens[start + 1]
      (self.sequence, self.written) = (sequence, written)
      (self.delivered, self.pending) = (delivered, pending)
    }
  }
}
