import LiveSources
import RateLimiting

/// The state of one connection to a chat server.
struct TwitchConnection: Sendable {
  enum Phase: Sendable {
    case connecting
    case registering
    /// Registered: channels can be joined.
    case ready
    /// Another connection has replaced this one, which is closed when the server has answered a
    /// last PING.
    case draining
  }

  /// The required capabilities, in the order in which they are requested one by one: Twitch grants
  /// tags only together with commands.
  static let capabilities = ["twitch.tv/commands", "twitch.tv/tags"]

  let link: Int
  var phase = Phase.connecting
  /// The time at which the current phase times out. `nil` for a phase without a limit.
  var phaseDeadline: Instant?
  var openedAt: Instant
  var nick: String
  var hasShortName = false
  var liveness: Liveness
  var lastHeard: Instant
  /// The longest time that the server took to answer. A message may have been in flight for as long
  /// as this.
  var roundTrip = Interval.zero
  private var pingedAt: Instant?
  /// The capabilities that were requested, together or individually, and not answered yet.
  var requested: [String] = []
  var asksOneByOne = false
  var hasTags = false
  var isWelcome = false
  /// The channels to join, the channels with an unanswered JOIN, and the joined channels.
  var toJoin: [String] = []
  var requestedJoins: [String: Instant] = [:]
  var joined: [String: Instant] = [:]
  /// Whether the server has announced that it will close the connection.
  var isLeaving = false
  /// The reason that the server gave before it closed the connection.
  var farewell: String?

  init(link: Int, nick: String, settings: TwitchSettings, at now: Instant) {
    self.link = link
    self.nick = nick
    openedAt = now
    lastHeard = now
    phaseDeadline = now + settings.registration
    liveness = Liveness(silence: settings.silence, patience: settings.answer, at: now)
  }

  /// If the connection ends now, all messages sent before this time have arrived.
  var completeUntil: Instant { lastHeard + Interval(nanoseconds: -roundTrip.nanoseconds) }

  mutating func heard(at now: Instant) {
    lastHeard = max(lastHeard, now)
    liveness.heard(at: now)
  }

  mutating func pinged(at now: Instant) { pingedAt = now }

  /// Records that the server has answered a PING.
  mutating func ponged(at now: Instant) {
    guard let pingedAt else { return }
    roundTrip = max(roundTrip, now - pingedAt)
    self.pingedAt = nil
  }

  /// Returns the time of the next call of ``TwitchSession/wake(at:)`` for this connection.
  func deadline(_ settings: TwitchSettings) -> Instant? {
    var deadline = phaseDeadline
    if case .connecting = phase {} else { deadline = .earlier(deadline, liveness.deadline) }
    return requestedJoins.values.reduce(deadline) { .earlier($0, $1 + settings.join) }
  }
}
