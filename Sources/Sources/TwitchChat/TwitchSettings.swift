package import LiveSources
package import RateLimiting

/// Which chats are read, and how.
package struct TwitchSettings: Sendable {
  /// An account to read with; without it Twitch is read anonymously.
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
  /// How many channels one process may read.
  package static let maximumChannels = 1_000

  /// Names of channels, in lower case and without `#`.
  package var channels: [String]
  package var account: Account?
  /// Channels on one connection.
  package var channelsPerConnection = 50
  /// How many joins the platform allows in ten seconds.
  package var joinsPerTenSeconds = 20

  /// Whether somebody is asked for what was missed.
  package var readsHistory = false

  // MARK: Times

  /// How long a connection may take until it is registered.
  package var registration = Interval.seconds(15)
  /// How long a server may take to answer a join.
  package var join = Interval.seconds(20)
  /// How long a server may be silent before it is asked.
  package var silence = Interval.seconds(30)
  /// How long its answer may take.
  package var answer = Interval.seconds(10)
  /// How long a replaced connection may take to answer that everything was sent.
  package var drain = Interval.seconds(5)
  /// A server that restarts tells all its clients at once; each comes back after up to this time.
  package var reconnectJitter = Interval.seconds(2)

  package init(channels: [String], account: Account? = nil) {
    self.channels = channels
    self.account = account
  }

  /// The name of a channel as users write it (`#Chan`, `chan`); `nil` if Twitch has no such names.
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
