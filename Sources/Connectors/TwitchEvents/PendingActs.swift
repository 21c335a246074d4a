import JSON
import LiveEvents
import LiveSources
import RateLimiting

/// The room's acts that have no outcome yet: waiting acts and sent acts.
///
/// Each act ends with exactly one outcome, unless the room withdraws it. An act is sent a second
/// time only if Twitch has rejected the first attempt because of the token or a rate limit, so
/// nothing is carried out twice.
struct PendingActs: Sendable {
  /// The end of an act.
  struct End: Equatable, Sendable {
    let identifier: String
    let outcome: RequestOutcome
    /// The number of the request to cancel, because its answer no longer counts.
    var cancelled: Int?
  }

  private struct Entry {
    let identifier: String
    let act: TwitchAct
    var request: EventSubRequest
    /// The time at which the act ends without an answer.
    let deadline: Instant
    /// The time at which Twitch accepts requests again.
    var sendAt: Instant?
    var isRepeated = false
  }

  /// What must happen after an answer.
  enum Step: Equatable, Sendable {
    case end(End)
    /// The act waits to be sent again. `checksToken` is true if Twitch has rejected the token.
    case wait(checksToken: Bool)
  }

  /// The maximum number of requests in flight.
  static let maximumSent = 4
  /// The maximum number of acts that wait to be sent.
  static let maximumWaiting = 32

  private var waiting: [Entry] = []
  /// The sent acts by the numbers of their requests.
  private var sent: [Int: Entry] = [:]

  /// The time at which to call ``expire(at:)``.
  var deadline: Instant? {
    var deadline: Instant?
    for entry in waiting { deadline = .earlier(deadline, .earlier(entry.deadline, entry.sendAt)) }
    for entry in sent.values { deadline = .earlier(deadline, entry.deadline) }
    return deadline
  }

  func contains(_ identifier: String) -> Bool {
    waiting.contains { $0.identifier == identifier }
      || sent.values.contains { $0.identifier == identifier }
  }

  func isSent(_ id: Int) -> Bool { sent[id] != nil }

  /// Adds an act whose first request is `request`. Returns `false` if too many acts are waiting.
  mutating func add(
    _ act: TwitchAct, _ request: EventSubRequest, for identifier: String, until deadline: Instant
  ) -> Bool {
    guard waiting.count < Self.maximumWaiting else { return false }
    waiting.append(
      Entry(identifier: identifier, act: act, request: request, deadline: deadline))
    return true
  }

  /// The index of the next act to send. Acts on the same subject are sent one after the other, so
  /// that they take effect in the order in which the room has requested them.
  private var next: Int? {
    guard sent.count < Self.maximumSent else { return nil }
    var busy = Set(sent.values.map(\.act.subject))
    return waiting.firstIndex { busy.insert($0.act.subject).inserted && $0.sendAt == nil }
  }

  var canSend: Bool { next != nil }

  /// Returns the request of the next act to send, and records `id` as the number of this request.
  mutating func send(_ id: Int) -> EventSubRequest? {
    guard let next else { return nil }
    let entry = waiting.remove(at: next)
    sent[id] = entry
    return entry.request
  }

  /// Processes an answer to a sent act.
  ///
  /// - Parameter reset: The time at which Twitch accepts requests again, if Twitch names one.
  mutating func answered(
    _ id: Int, status: Int, _ body: JSONValue, reset: Instant?, channel: String, at now: Instant
  ) -> Step? {
    guard var entry = sent.removeValue(forKey: id) else { return nil }
    // In these two cases, Twitch has carried out nothing, so the request can be sent again.
    if status == 401, !entry.isRepeated, !TwitchAct.isAboutScopes(body) {
      entry.isRepeated = true
      waiting.insert(entry, at: 0)
      return .wait(checksToken: true)
    }
    if status == 429, !entry.isRepeated, let reset, reset < entry.deadline {
      entry.isRepeated = true
      entry.sendAt = reset > now ? reset : nil
      waiting.insert(entry, at: 0)
      return .wait(checksToken: false)
    }
    switch entry.act.progress(after: entry.request, status: status, body, channel: channel) {
    case .ended(let outcome): return .end(End(identifier: entry.identifier, outcome: outcome))
    case .next(let request):
      entry.request = request
      entry.isRepeated = false
      waiting.insert(entry, at: 0)
      return .wait(checksToken: false)
    }
  }

  /// Ends a sent act that has no answer.
  ///
  /// - Parameter mayBeSent: Whether Twitch may have received the request.
  mutating func failed(_ id: Int, reason: String, mayBeSent: Bool) -> End? {
    guard let entry = sent.removeValue(forKey: id) else { return nil }
    let reason = mayBeSent ? reason : "Twitch cannot be reached: \(reason)"
    return Self.end(entry, reason, mayBeSent: mayBeSent)
  }

  private static func end(
    _ entry: Entry, _ reason: String, mayBeSent: Bool, cancelled: Int? = nil
  ) -> End {
    // A GET request changes nothing on Twitch, so without an answer the act was not carried out.
    let outcome: RequestOutcome =
      mayBeSent && entry.request.method != .get
      ? .unknown(reason) : .refused(reason: reason)
    return End(identifier: entry.identifier, outcome: outcome, cancelled: cancelled)
  }

  /// Removes an act without an outcome. Returns the number of its request, which must be cancelled,
  /// if the act was sent.
  mutating func withdraw(_ identifier: String) -> Int? {
    waiting.removeAll { $0.identifier == identifier }
    guard let id = sent.first(where: { $0.value.identifier == identifier })?.key else { return nil }
    sent[id] = nil
    return id
  }

  /// Ends the acts whose deadline has passed, and ends waits for a rate limit that is reset by
  /// `now`.
  mutating func expire(at now: Instant) -> [End] {
    for index in waiting.indices {
      if let time = waiting[index].sendAt, time <= now { waiting[index].sendAt = nil }
    }
    return end("Twitch does not answer in time") { $0.deadline <= now }
  }

  /// Ends all acts.
  mutating func endAll(_ reason: String) -> [End] { end(reason) { _ in true } }

  private mutating func end(_ reason: String, where isOver: (Entry) -> Bool) -> [End] {
    // Sorted, so that equal runs have equal effects.
    let lost = sent.filter { isOver($0.value) }.sorted { $0.key < $1.key }
    for (id, _) in lost { sent[id] = nil }
    let unsent = waiting.filter(isOver)
    waiting.removeAll(where: isOver)
    return lost.map { Self.end($0.value, reason, mayBeSent: true, cancelled: $0.key) }
      + unsent.map { Self.end($0, reason, mayBeSent: false) }
  }
}

extension TwitchAct {
  /// What an act changes. Acts with the same subject are sent one after the other.
  fileprivate enum Subject: Hashable {
    case chat
    case message(MessageIdentifier)
    case person(PersonIdentifier)
    case stream
    case category
    case title
    case modes
    case shield
  }

  fileprivate var subject: Subject {
    switch self {
    case .say, .announce: .chat
    case .delete(let message), .reviewHeld(let message, _): .message(message)
    case .ban(let person, _, _), .unban(let person), .shoutOut(let person): .person(person)
    case .mark: .stream
    case .setTitle: .title
    case .setCategory: .category
    case .setChatModes: .modes
    case .setShield: .shield
    }
  }
}
