package import JSON
import LiveEvents
package import LiveSources
package import RateLimiting

/// Reads the stream of a session of Social Stream Ninja: when to connect, and which messages count.
///
/// A value without sockets and clocks: its owner passes messages and the time, and carries out the effects.
package struct SocialStreamSession {
  package enum Effect: Equatable, Sendable {
    /// Connect; `opened(_:at:)` or `closed(_:reason:at:)` tells the result.
    case connect(Int)
    case close(Int)
    /// Ask for a sign of life; `heard(_:at:)` reports it.
    case ping(Int)
    case message(JSONValue, identifier: String)
    case status(SourceStatus)
    /// Nothing was heard for a time.
    case gap(from: Instant, to: Instant, reason: String)
  }

  static let silence = Interval.seconds(30)
  static let patience = Interval.seconds(10)

  private struct Connection {
    var id: Int
    var openedAt: Instant?
    var liveness: Liveness?
    var lastHeard: Instant
  }

  /// Begins the identifiers of messages that have none; another one for each run.
  private let run: String
  private var generator: any RandomNumberGenerator
  private var policy = ReconnectPolicy()
  private var connection: Connection?
  private var connectAt: Instant?
  private var lastID = 0
  private var isPaused = false
  private var gap: (since: Instant, reason: String)?
  private var identifiers = IdentifierMemory()
  private var status: SourceStatus?
  private var effects: [Effect] = []
  /// Messages that were told, and copies that were not.
  package private(set) var told = 0
  package private(set) var duplicates = 0

  /// - Parameter generator: for the jitter of waits.
  package init(run: String, generator: any RandomNumberGenerator, at now: Instant) {
    self.run = run
    self.generator = generator
    connectAt = now
    say(SourceStatus(.connecting))
  }

  /// What is to be done, in this order. Ask after each call.
  package mutating func takeEffects() -> [Effect] {
    defer { effects = [] }
    return effects
  }

  private mutating func say(_ status: SourceStatus) {
    guard status.state != self.status?.state || status.reason != self.status?.reason else { return }
    var status = status
    status.duplicate = duplicates
    self.status = status
    effects.append(.status(status))
  }

  // MARK: Time

  /// When to call ``wake(at:)``.
  package var deadline: Instant? { .earlier(connectAt, connection?.liveness?.deadline) }

  package mutating func wake(at now: Instant) {
    if let time = connectAt, time <= now {
      connectAt = nil
      lastID += 1
      connection = Connection(id: lastID, lastHeard: now)
      effects.append(.connect(lastID))
    }
    guard let id = connection?.id, let verdict = connection?.liveness?.wake(at: now) else { return }
    switch verdict {
    case .ask: effects.append(.ping(id))
    case .dead:
      effects.append(.close(id))
      end(reason: "no sign of life", at: now)
    }
  }

  /// The source has stopped or resumed reading.
  package mutating func pause(_ isPaused: Bool, at now: Instant) {
    self.isPaused = isPaused
    connection?.liveness?.suspend(isPaused, at: now)
  }

  // MARK: The connection

  package mutating func opened(_ id: Int, at now: Instant) {
    guard connection?.id == id else { return }
    connection?.openedAt = now
    connection?.liveness = Liveness(silence: Self.silence, patience: Self.patience, at: now)
    if isPaused { connection?.liveness?.suspend(true, at: now) }
    connection?.lastHeard = now
    if let gap { effects.append(.gap(from: gap.since, to: now, reason: gap.reason)) }
    gap = nil
    say(SourceStatus(.live))
  }

  package mutating func closed(_ id: Int, reason: String, at now: Instant) {
    guard connection?.id == id else { return }
    end(reason: reason, at: now)
  }

  private mutating func end(reason: String, at now: Instant) {
    // What was under way when it was last heard of may be lost.
    if let connection, connection.openedAt != nil, gap == nil {
      gap = (connection.lastHeard, reason)
    }
    connection = nil
    connectAt = policy.failed(at: now, using: &generator)
    say(SourceStatus(.connecting, reason: reason))
  }

  /// A sign of life has come.
  package mutating func heard(_ id: Int, at now: Instant) {
    guard connection?.id == id, let openedAt = connection?.openedAt else { return }
    connection?.lastHeard = now
    connection?.liveness?.heard(at: now)
    // An answered ping is all that a session has in which nobody writes.
    policy.receivedUsefulData(at: now, connected: openedAt)
  }

  package mutating func receive(_ message: JSONValue, on id: Int, at now: Instant) {
    guard connection?.id == id else { return }
    heard(id, at: now)
    // Several messages may come at once.
    for message in message.arrayValue ?? [message] { take(message) }
  }

  private mutating func take(_ message: JSONValue) {
    guard message.objectValue != nil else { return }
    let identifier = identifier(of: message)
    guard Array(identifier.utf8).withUnsafeBytes({ identifiers.isNew($0) }) else {
      duplicates += 1
      return
    }
    told += 1
    effects.append(.message(message, identifier: identifier))
  }

  /// Its numbers begin anew with each start of Social Stream Ninja, so a number alone identifies nothing.
  private func identifier(of message: JSONValue) -> String {
    let number: String? =
      switch message["id"] {
      case .integer(let integer)?: String(integer)
      case .string(let text)?: text.isEmpty ? nil : text
      default: nil
      }
    guard let number else { return "\(run)/\(told + 1)" }
    let words = ["type", "chatname", "chatmessage", "event"].map {
      message[$0]?.stringValue ?? ""
    }.joined(separator: "\0")
    let hash = SHA256.hash(words.utf8).prefix(8).map { String($0, radix: 16) }.joined()
    return "\(number.prefix(64))/\(hash)"
  }
}
