import LiveEvents
package import LiveSources
import PlatformFormats
package import RateLimiting

/// Receives deliveries of webhooks: translates them, drops repeats, and decides when each is answered.
///
/// A delivery is answered with 200 once the daemon has acknowledged its events, and with 503 if that takes longer than
/// ``patience``. Its events stay in flight, so the sender's repeat must be recognised: by the identifier that the
/// mapping names, or else by its bytes. This is a value without sockets and clocks; its owner passes deliveries and the
/// time, and carries out the effects.
package struct WebhookSession {
  package enum Effect: Equatable, Sendable {
    /// Lines for the daemon, without their ends.
    case deliver([[UInt8]])
    case answer(Int, WebhookAnswer)
    case status(SourceStatus)
    case gap(from: Instant, to: Instant, reason: String)
  }

  private struct Waiting {
    var id: Int
    /// The number of acknowledged lines at which it is complete.
    var ticket: Int
    var deadline: Instant
    /// The hash of the delivery if nothing else identifies it.
    var hash: Int?
  }

  /// How long the daemon may take before a sender is asked to try again: most senders wait for ten seconds.
  package static let patience = Interval.seconds(5)
  /// Deliveries without an identifier that are remembered until they are repeated.
  static let maximumUnanswered = 4096

  private let mapping: WebhookMapping
  private let check = NativeLineCheck()
  private let listening: String
  private var waiting: [Waiting] = []
  private var identifiers = IdentifierMemory()
  private var unanswered: Set<Int> = []
  /// What is in `unanswered`, or was, oldest first.
  private var unansweredOrder: [Int] = []
  private var isPaused = false
  private var turnedAway: (since: Instant, count: Int)?
  private var state = SourceStatus(.connecting)
  private var pace = StatusPace()
  private var lastRefusal = ""
  /// Deliveries that no rule fits.
  private var unfit = UnfitDeliveries()
  /// Members that fell back, by the names that the mapping gives them.
  private var odd = OddValueCounts()
  private var effects: [Effect] = []

  /// The number of events delivered, and of deliveries that were repeats, were refused, or matched no rule.
  package private(set) var told = 0
  package private(set) var duplicates = 0
  package private(set) var refused = 0
  package private(set) var ignored = 0

  /// - Parameter address: where it listens, for people.
  package init(_ mapping: WebhookMapping, address: String) {
    self.mapping = mapping
    listening = "listening at \(address)"
    effects.append(.status(state))
  }

  /// What is to be done, in this order. Ask after each call.
  package mutating func takeEffects() -> [Effect] {
    defer { effects = [] }
    return effects
  }

  // MARK: Deliveries

  /// Processes a delivery.
  ///
  /// - Parameters:
  ///   - bytes: its body.
  ///   - queue: how many lines the daemon was given so far, and has acknowledged.
  package mutating func receive(
    _ id: Int, _ delivery: WebhookDelivery, bytes: [UInt8], queue: (given: Int, acknowledged: Int),
    at now: Instant
  ) {
    guard !isPaused else {
      turnedAway = (turnedAway?.since ?? now, (turnedAway?.count ?? 0) + 1)
      return effects.append(
        .answer(id, WebhookAnswer(503, "livehostd takes no events at the moment")))
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
      unfit.note(delivery, mapping)
      confirm(id)
      return update(at: now)
    }
    var ticket = queue.given
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
      told += lines.count
      ticket += lines.count
      effects.append(.deliver(lines))
      if !mapped.odd.isEmpty {
        odd.note(mapped.odd)
        update(at: now)
      }
    } else {
      // The first copy's events are among those given to the daemon so far, so it waits for all of these.
      duplicates += 1
      update(at: now)
    }
    if let turnedAway {
      self.turnedAway = nil
      effects.append(
        .gap(
          from: turnedAway.since, to: now,
          reason: "\(turnedAway.count) deliveries were turned away, as livehostd took no events"))
    }
    waiting.append(
      Waiting(id: id, ticket: ticket, deadline: now + Self.patience, hash: hash))
    acknowledged(queue.acknowledged)
  }

  /// The daemon has acknowledged so many lines.
  package mutating func acknowledged(_ count: Int) {
    // Those that came later wait for more lines.
    while let first = waiting.first, first.ticket <= count {
      waiting.removeFirst()
      confirm(first.id)
    }
  }

  private mutating func confirm(_ id: Int) {
    effects.append(.answer(id, WebhookAnswer(200, mapping.reply)))
  }

  /// The sender of a delivery has left without an answer.
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

  // MARK: What is shown

  /// It listens.
  package mutating func opened() {
    state.state = .live
    state.reason = listening
    effects.append(.status(state))
  }

  /// A request was refused before it was read.
  package mutating func refuse(_ reason: String, at now: Instant) {
    refused += 1
    lastRefusal = reason
    update(at: now)
  }

  /// The daemon takes no more for now, or takes events again.
  package mutating func pause(_ isPaused: Bool) { self.isPaused = isPaused }

  /// Reports the status, but not as often as strangers can change it.
  private mutating func update(at now: Instant) {
    guard state.state == .live, pace.mayReport(at: now) else { return }
    state.duplicate = duplicates
    state.notShown = ignored
    var parts = [listening]
    if refused > 0 { parts.append("refused \(refused), at last: \(lastRefusal)") }
    if ignored > 0 { parts.append("no rule for \(ignored)\(unfit.text)") }
    if let text = odd.text { parts.append(text) }
    // A longer one would be rejected.
    state.reason = parts.joined(separator: "; ").clipped
    effects.append(.status(state))
  }

  /// Reports what was held back: the source ends.
  package mutating func finish(at now: Instant) {
    if pace.release() { update(at: now) }
  }

  // MARK: Time

  /// When to call ``wake(at:)``.
  package var deadline: Instant? { .earlier(waiting.first?.deadline, pace.deadline) }

  package mutating func wake(at now: Instant) {
    while let first = waiting.first, first.deadline <= now {
      waiting.removeFirst()
      remember(first)
      effects.append(
        .answer(first.id, WebhookAnswer(503, "livehostd has not acknowledged it in time")))
    }
    if pace.isDue(at: now) { update(at: now) }
  }
}
