package import LiveSources
package import RateLimiting

/// Which channel's events are read, and how.
package struct EventSubSettings: Sendable {
  /// Where Twitch is.
  package struct Servers: Sendable {
    package var events = "wss://eventsub.wss.twitch.tv/ws"
    package var api = "https://api.twitch.tv"
    package var logins = "https://id.twitch.tv"

    package init() {}
  }

  /// The name of the channel, in lower case.
  package var channel: String
  /// Where sessions begin.
  package var address: HTTPAddress

  // MARK: Times

  /// How long the server may take to welcome a connection.
  package var welcome = Interval.seconds(10)
  /// How long a replaced connection is still read: what was on its way when the new one was welcomed.
  package var drain = Interval.seconds(5)
  /// How long an address to reconnect to is valid.
  package var grace = Interval.seconds(30)
  /// How often viewers are asked for, since no event tells them.
  package var poll = Interval.seconds(60)
  /// How often the token is checked, as Twitch demands.
  package var validation = Interval.seconds(3_600)
  /// Requests at the same time.
  package var requests = 4

  package init(channel: String, address: HTTPAddress) {
    self.channel = channel
    self.address = address
  }
}
