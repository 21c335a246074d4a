import ChatImport
import LiveEvents
package import LiveSources
package import RateLimiting

/// Processes webhook deliveries: translates them, drops duplicates, and decides when to answer.
///
/// A delivery is answered with 200 when the daemon has acknowledged its events, and with 503 if
/// that takes longer than ``patience``. After a 503, the events remain in flight, so the sender's
/// retry must be recognised, by the mapping's identifier or else by the delivery's bytes.
///
/// A value type that uses no sockets or clocks: its owner passes in deliveries and the time, and
/// performs the effects.
package struct WebhookSession: SourceSession {
  package enum Effect: Equatable, Sendable {
    /// Deliver lines, without line endings, to the daemon.
    case deliver([[UInt8]])
    case answer(Int, WebhookAnswer)
    case status(SourceStatus)
    case gap(from: Instant, to: Instant, reason: String)
  }

  private struct Waiting {
    var id: Int
    /// The number of acknowledged lines at which the delivery is complete.
    var ticket: Int
    var deadline: Instant
    /// The hash of a delivery without an identifier.
    var hash: Int?
  }

  /// How long the daemon may take before the sender is asked to retry. Most senders wait ten
  /// seconds.
  package static let patience = Interval.seconds(5)
  /// The maximum number of unanswered deliveries without an identifier that are remembered.
  static let maximumUnanswered = 4096

  private let mapping: WebhookMapping
  private let check = NativeLineCheck()
  private let listening: String
  private var waiting: [Waiting] = []
  private var identifiers = IdentifierMemory()
  private var unanswered: Set<Int> = []
  /// The hashes ever inserted into `unanswered`, oldest first.
  private var unansweredOrder: [Int] = []
  private var isPaused = false
  private var turnedAway: (since: Instant, count: Int)?
  private var state = SourceStatus(.connecting)
  private var pace = StatusPace()
  private var lastRefusal = ""
  private var unfit = UnfitDeliveries()
  /// The members with unusable values, by their names in the mapping.
  private var unusable = UnusableValueCounts()
  package var effects: [Effect] = []

  /// The number of delivered events, and of deliveries that were duplicates, were refused, or
  /// matched no rule.
  package private(set) var forwarded = 0
  package private(set) var duplicates = 0
  package private(set) var refused = 0
  package private(set) var ignored = 0

  package init(_ mapping: WebhookMapping, address: String) {
    self.mapping = mapping
    listening = "listening on \(address)"
    effects.append(.status(state))
  }

  // MARK: Deliveries

  /// Processes a delivery.
  ///
  /// - Parameters:
  ///   - bytes: The body as received.
  ///   - queue: The number of lines given to the daemon so far, and how many of them it has
  ///     acknowledged.
  package mutating func receive(
    _ id: Int, _ delivery: WebhookDelivery, bytes: [UInt8],
    queue: (submitted: Int, acknowledged: Int),
    at now: Instant
  ) {
    guard !isPaused else {
      turnedAway = (turnedAway?.since ?? now, (turnedAway?.count ?? 0) + 1)
      return effects.append(
        .answer(id, WebhookAnswer(503, "livehostd does not accept events at the moment")))
    }
    let mapped: MappedDelivery
    do {
      mapped = try mapping.map(delivery, check: check)
    } catch {
      refuse(error.text, at: now)
      return effects.append(.answer(id, WebhookAnswer(422, error.text)))
    }
    let lines = mapped.lines
    guard !lines.isEmpty else {
      ignored += 1
      unfit.add(delivery, mapping)
      confirm(id)
      return update(at: now)
    }
    var ticket = queue.submitted
    var hash: Int?
    let isNew: Bool
    if let identifier = mapping.identifier(of: delivery) {
      isNew = Array(identifier.utf8).withUnsafeBytes { identifiers.isNew($0) }
    } else {
      var hasher = Hasher()
      hasher.combine(bytes)
      let value = hasher.finalize()
      hash = value
      isNew = unanswered.remove(value) == nil
    }
    if isNew {
      forwarded += lines.count
      ticket += lines.count
      effects.append(.deliver(lines))
      if !mapped.unusable.isEmpty {
        unusable.add(mapped.unusable)
        update(at: now)
      }
    } else {
      // The first copy's events are among the lines given to the daemon so far, so the duplicate
      // waits for all of them.
      duplicates += 1
      update(at: now)
    }
    if let turnedAway {
      self.turnedAway = nil
      effects.append(
        .gap(
          from: turnedAway.since, to: now,
          reason: "\(turnedAway.count) deliveries were refused: livehostd accepted no events"))
    }
    waiting.append(
      Waiting(id: id, ticket: ticket, deadline: now + Self.patience, hash: hash))
    acknowledged(queue.acknowledged)
  }

  /// Records the number of lines that the daemon has acknowledged so far.
  package mutating func acknowledged(_ count: Int) {
    // Later deliveries wait for more lines.
    while let first = waiting.first, first.ticket <= count {
      waiting.removeFirst()
      confirm(first.id)
    }
  }

  private mutating func confirm(_ id: Int) {
    effects.append(.answer(id, WebhookAnswer(200, mapping.reply)))
  }

  /// Records that the sender of a delivery has disconnected before the answer.
  package mutating func left(_ id: Int) {
    guard let index = waiting.firstIndex(where: { $0.id == id }) else { return }
    remember(waiting.remove(at: index))
  }

  private mutating func remember(_ delivery: Waiting) {
    guard let hash = delivery.hash, unanswered.insert(hash).inserted else { return }
    unansweredOrder.append(hash)
    if unansweredOrder.count > Self.maximumUnanswered {
      unanswered.remove(unansweredOrder.removeFirst())
    }
  }

  // MARK: Status reports

  /// Records that the server is listening.
  package mutating func opened() {
    state.state = .live
    state.reason = listening
    effects.append(.status(state))
  }

  /// Records that a request was refused before its body was processed.
  package mutating func refuse(_ reason: String, at now: Instant) {
    refused += 1
    lastRefusal = reason
    update(at: now)
  }

  /// Records that the daemon has stopped or resumed accepting events.
  package mutating func pause(_ isPaused: Bool) { self.isPaused = isPaused }

  /// Reports the status, but no more often than ``StatusPace`` allows, because senders can change
  /// it at any rate.
  private mutating func update(at now: Instant) {
    guard state.state == .live, pace.mayReport(at: now) else { return }
    state.duplicate = duplicates
    state.notShown = ignored
    var parts = [listening]
    if refused > 0 { parts.append("refused \(refused), most recently: \(lastRefusal)") }
    if ignored > 0 { parts.append("no rule for \(ignored)\(unfit.text)") }
    if let text = unusable.text { parts.append(text) }
    // The daemon rejects longer reasons.
    state.reason = parts.joined(separator: "; ").clipped
    effects.append(.status(state))
  }

  /// Sends the delayed status report now, because the source is ending.
  package mutating func finish(at now: Instant) {
    if pace.release() { update(at: now) }
  }

  // MARK: Time

  /// The time at which to call ``wake(at:)``.
  package var deadline: Instant? { .earlier(waiting.first?.deadline, pace.deadline) }

  package mutating func wake(at now: Instant) {
    while let first = waiting.first, first.deadline <= now {
      waiting.removeFirst()
      remember(first)
      effects.append(
        .answer(first.id, WebhookAnswer(503, "livehostd did not acknowledge the delivery in time")))
    }
    if pace.isDue(at: now) { update(at: now) }
  }
}
