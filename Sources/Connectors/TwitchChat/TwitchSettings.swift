package import LiveSources
package import RateLimiting

/// The chats to read, and the limits for reading them.
package struct TwitchSettings: Sendable {
  /// An account for reading. Without an account, Twitch is read anonymously.
  package struct Account: Sendable {
    package var name: String
    package var token: Secret

    package init(name: String, token: Secret) {
      self.name = name
      self.token = token
    }
  }

  /// Twitch's own server, with TLS.
  package static let server = PeerAddress(host: "irc.chat.twitch.tv", port: 6697)
  /// The maximum number of channels that one process may read.
  package static let maximumChannels = 1_000

  /// The names of the channels, in lower case and without `#`.
  package var channels: [String]
  package var account: Account?
  /// The maximum number of channels per connection.
  package var channelsPerConnection = 50
  /// The number of joins that the platform allows in ten seconds.
  package var joinsPerTenSeconds = 20

  /// Whether to request missed messages from a history service.
  package var readsHistory = false

  // MARK: Time limits

  /// How long a connection may take to register.
  package var registration = Interval.seconds(15)
  /// How long a server may take to answer a JOIN.
  package var join = Interval.seconds(20)
  /// How long a server may be silent before it gets a PING.
  package var silence = Interval.seconds(30)
  /// How long the server may take to answer the PING.
  package var answer = Interval.seconds(10)
  /// How long a replaced connection may take to confirm that it has sent everything.
  package var drain = Interval.seconds(5)
  /// The maximum random delay before reconnecting to a restarting server, which disconnects all
  /// clients simultaneously.
  package var reconnectJitter = Interval.seconds(2)

  package init(channels: [String], account: Account? = nil) {
    self.channels = channels
    self.account = account
  }

  /// Returns the name of a channel as users write it (`#Chan`, `chan`) in normal form, or `nil` if
  /// it is not a valid Twitch name.
  package static func channel(_ text: String) -> String? {
    let name = (text.hasPrefix("#") ? text.dropFirst() : text[...]).lowercased()
    let isValid =
      (1...25).contains(name.utf8.count)
      && name.utf8.allSatisfy {
        switch $0 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
          UInt8(ascii: "_"):
          true
        default: false
        }
      }
    return isValid ? name : nil
  }
}
