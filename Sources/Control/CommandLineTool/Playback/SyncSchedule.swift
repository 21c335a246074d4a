/// Decides when to send `sync` lines to the daemon, and stores the counts from the daemon's
/// answers.
package struct SyncSchedule: Sendable {
  package struct Confirmed: Equatable, Sendable {
    package var received: Int
    package var rejected: Int

    package init(received: Int = 0, rejected: Int = 0) {
      self.received = received
      self.rejected = rejected
    }
  }

  private static let interval: Int64 = 1_000_000_000
  private static let bytes = 8 << 20

  private let prefix: String
  private var lastTime: Int64
  private var lastBytes = 0
  private var sent = 0
  private var answered = 0
  package private(set) var confirmed = Confirmed()

  /// - Parameter prefix: the beginning of every token that this playback sends; it distinguishes
  ///   them from the tokens of `sync` lines in the recording.
  package init(prefix: String, now: Int64) {
    self.prefix = prefix
    lastTime = now
  }

  package var isSettled: Bool { sent == answered }

  /// Returns when the next `sync` line is due. Returns nil while a `sync` line is unanswered, and
  /// if nothing was sent after the previous `sync` line.
  package func nextTime(sentBytes: Int) -> Int64? {
    isSettled && sentBytes > lastBytes ? lastTime + Self.interval : nil
  }

  /// Returns the `sync` line to send now; nil if none is due. One is due one second or 8 MiB after
  /// the previous one.
  package mutating func line(now: Int64, sentBytes: Int) -> String? {
    guard isSettled, sentBytes > lastBytes,
      now - lastTime >= Self.interval || sentBytes - lastBytes >= Self.bytes
    else { return nil }
    return ask(now: now, sentBytes: sentBytes)
  }

  /// Returns the final `sync` line, which ends every playback.
  package mutating func lastLine(now: Int64, sentBytes: Int) -> String {
    ask(now: now, sentBytes: sentBytes)
  }

  private mutating func ask(now: Int64, sentBytes: Int) -> String {
    sent += 1
    lastTime = now
    lastBytes = sentBytes
    return "{\"type\":\"sync\",\"token\":\"\(prefix)\(sent)\"}\n"
  }

  /// Records an answer. Returns false and ignores the answer if its token belongs to a `sync` line
  /// of the recording.
  @discardableResult
  package mutating func receive(token: String, received: Int, rejected: Int) -> Bool {
    guard token.hasPrefix(prefix), let number = Int(token.dropFirst(prefix.count)),
      (answered + 1...max(sent, answered + 1)).contains(number), number <= sent
    else { return false }
    answered = number
    confirmed = Confirmed(received: received, rejected: rejected)
    return true
  }
}
