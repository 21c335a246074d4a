package import LiveEvents
package import LiveSources
package import RateLimiting

/// The channel whose events are read, and the time limits.
package struct EventSubSettings: Sendable {
  /// The addresses of Twitch's servers.
  package struct Servers: Sendable {
    package var events = "wss://eventsub.wss.twitch.tv/ws"
    package var api = "https://api.twitch.tv"
    package var logins = "https://id.twitch.tv"

    package init() {}
  }

  /// The name of the channel, in lower case.
  package var channel: String
  /// The address at which a new session connects.
  package var address: HTTPAddress
  /// The acts to offer to the room if the token allows them.
  package var acts = ActKind.allCases

  // MARK: Time limits

  /// How long the server may take to welcome a connection.
  package var welcome = Interval.seconds(10)
  /// How long a replaced connection is still read, because messages may have been in flight when
  /// the new connection was welcomed.
  package var drain = Interval.seconds(5)
  /// How long the server's address for reconnecting is valid.
  package var grace = Interval.seconds(30)
  /// How often the viewer count is requested. Requests are necessary because no event reports the
  /// count.
  package var poll = Interval.seconds(60)
  /// How often the token is validated, as Twitch requires.
  package var validation = Interval.seconds(3_600)
  /// The maximum number of concurrent requests, other than acts.
  package var requests = 4
  /// How long an act may take. This is shorter than the default of the daemon's
  /// `rooms.requestTimeout`, so that the source reports the outcome: the source knows whether the
  /// act was sent, and the daemon does not.
  package var act = Interval.seconds(4)

  package init(channel: String, address: HTTPAddress) {
    self.channel = channel
    self.address = address
  }
}
