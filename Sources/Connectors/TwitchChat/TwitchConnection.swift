import LiveSources
import RateLimiting

/// The state of one connection to a chat server.
struct TwitchConnection: Sendable {
  enum Phase: Sendable {
    case connecting
    case registering
    /// Registered: channels are joined.
    case ready
    /// Replaced by another connection. It is closed once the server has answered a last PING.
    case draining
  }

  /// The required capabilities, in the order in which they are requested individually. The server
  /// grants tags only together with commands.
  static let capabilities = ["twitch.tv/commands", "twitch.tv/tags"]

  let link: Int
  var phase = Phase.connecting
  /// The end of the time limit for the phase. `nil` if the phase has no limit.
  var phaseDeadline: Instant?
  var openedAt: Instant
  var nick: String
  /// Whether the server has rejected the first nickname.
  var hasShortName = false
  var liveness: Liveness
  var lastHeard: Instant
  /// The longest time that the server took to answer. A message may have been in flight for as
  /// long.
  var roundTrip = Interval.zero
  private var pingedAt: Instant?
  /// The capabilities whose answers are outstanding. They were requested together or are requested
  /// one by one.
  var requested: [String] = []
  var asksOneByOne = false
  var hasTags = false
  /// Whether the server has accepted the login.
  var isWelcome = false
  /// The channels to join, those with an outstanding JOIN, and those that were joined.
  var toJoin: [String] = []
  var asked: [String: Instant] = [:]
  var joined: [String: Instant] = [:]
  /// Whether the server has announced its end.
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

  /// The time before which all messages of the server have arrived, if the connection ends now.
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
    return asked.values.reduce(deadline) { .earlier($0, $1 + settings.join) }
  }
}
