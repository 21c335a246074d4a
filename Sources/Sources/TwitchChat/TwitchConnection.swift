import LiveSources
import RateLimiting

/// What is known of one connection to a chat server.
struct TwitchConnection: Sendable {
  enum Phase: Sendable {
    case connecting
    case registering
    /// Registered: channels are joined.
    case ready
    /// Replaced by another one: closed once the server has answered a last PING.
    case draining
  }

  /// The capabilities that messages need, in the order in which they are asked for one by one: tags are
  /// given only together with commands.
  static let capabilities = ["twitch.tv/commands", "twitch.tv/tags"]

  let link: Int
  var phase = Phase.connecting
  /// When the phase must be over; `nil` if it may last.
  var phaseDeadline: Instant?
  var openedAt: Instant
  var nick: String
  /// Whether the name that Twitch knows was refused.
  var hasShortName = false
  var liveness: Liveness
  var lastHeard: Instant
  /// The longest time that the server took to answer something: a message may have been under way as long.
  var roundTrip = Interval.zero
  private var pingedAt: Instant?
  /// Capabilities whose answers are awaited: all of them in one request, or one by one.
  var requested: [String] = []
  var asksOneByOne = false
  var hasTags = false
  /// The server has accepted the login.
  var isWelcome = false
  /// Channels that are still to be joined, then those that were asked for, then those that were joined.
  var toJoin: [String] = []
  var asked: [String: Instant] = [:]
  var joined: [String: Instant] = [:]
  /// The server has said that it ends soon.
  var isLeaving = false
  /// What the server gave as the reason before it closed the connection.
  var farewell: String?

  init(link: Int, nick: String, settings: TwitchSettings, at now: Instant) {
    self.link = link
    self.nick = nick
    openedAt = now
    lastHeard = now
    phaseDeadline = now + settings.registration
    liveness = Liveness(silence: settings.silence, patience: settings.answer, at: now)
  }

  /// Up to when everything that the server sent has arrived, if the connection ends now.
  var completeUntil: Instant { lastHeard + Interval(nanoseconds: -roundTrip.nanoseconds) }

  mutating func heard(at now: Instant) {
    lastHeard = max(lastHeard, now)
    liveness.heard(at: now)
  }

  mutating func pinged(at now: Instant) { pingedAt = now }

  /// The server has answered a PING.
  mutating func ponged(at now: Instant) {
    guard let pingedAt else { return }
    roundTrip = max(roundTrip, now - pingedAt)
    self.pingedAt = nil
  }

  /// The next thing that needs ``TwitchSession/wake(at:)``.
  func deadline(_ settings: TwitchSettings) -> Instant? {
    var deadline = phaseDeadline
    if case .connecting = phase {} else { deadline = .earlier(deadline, liveness.deadline) }
    return asked.values.reduce(deadline) { .earlier($0, $1 + settings.join) }
  }
}
