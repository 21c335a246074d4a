package import LiveEvents
package import LiveSources
package import MediaServers
import ObsStudio
package import RateLimiting
import SocialStream
import TwitchChat
import TwitchEvents
package import Webhooks
package import YAMLReader

/// The configuration of one source, from a service's configuration file or from the command line.
package struct SourceConfiguration: Sendable {
  /// The kinds of sources. A new kind needs a case here, its keys below, and its start in
  /// ``SourceRun``.
  package enum Kind: String, CaseIterable, Sendable {
    case twitch, eventsub, obs
    case nginxRTMP = "nginx-rtmp"
    case mediaMTX = "mediamtx"
    case owncast
    case webhook
    case socialStream = "social-stream"

    /// The default platform of the source's events. `nil` if no platform is configured, or if every
    /// event names its own.
    package var platform: String? {
      switch self {
      case .twitch, .eventsub: "twitch"
      case .owncast: rawValue
      case .obs, .nginxRTMP, .mediaMTX, .webhook, .socialStream: nil
      }
    }

    /// The kind of ingest server that the source monitors. `nil` for other kinds of sources.
    package var server: MediaServer? {
      switch self {
      case .twitch, .eventsub, .obs, .webhook, .socialStream: nil
      case .nginxRTMP: .nginxRTMP
      case .mediaMTX: .mediaMTX
      case .owncast: .owncast
      }
    }
  }

  package var kind: Kind?
  /// The room of all events. If `nil`, each event goes to the room that its line names.
  package var room: RoomName?
  /// The path of the daemon's ingest socket. `nil` searches the default locations.
  package var ingest: String?
  /// How long the daemon may be unreachable before the source fails. `nil` sets no limit.
  package var patience: Interval?
  package var bufferMebibytes = 8
  /// The path of the daemon's control socket, for the room's requests. `nil` searches the default
  /// locations.
  package var control: String?
  /// The kinds of acts that the source carries out for the room. `nil` means all that it can.
  package var acts: [ActKind]?
  package var twitch = TwitchOptions()
  package var obs = ObsOptions()
  package var server = ServerOptions()
  package var owncast = OwncastOptions()
  package var webhook = WebhookOptions()
  package var socialStream = SocialStreamOptions()

  package init() {}

  /// The options for Twitch: channels, servers and credentials.
  package struct TwitchOptions: Sendable {
    package var channels: [String] = []
    package var server = TwitchSettings.server
    package var usesTLS = true
    /// A PEM file with the certificate authorities to trust instead of the system's.
    package var certificates: String?
    package var account: String?
    package var tokenFile: String?
    package var channelsPerConnection = 50
    package var joinsPerTenSeconds = 20
    /// The service from which to retrieve missed chat messages.
    package var history: HTTPAddress?
    /// The file in which `livehostctl login twitch` stored the login.
    package var loginFile: String?
    package var eventsURL: HTTPAddress?
    package var api: HTTPAddress?
    package var logins: HTTPAddress?
    /// Whether to read the first channel's events in addition to its chat.
    package var readsEvents = false

    package var hasLogin: Bool { loginFile != nil || tokenFile != nil }
  }

  /// The options for OBS.
  package struct ObsOptions: Sendable {
    package var server = ObsSettings.address
    package var passwordFile: String?
  }

  /// The options for a stream on an ingest server.
  package struct ServerOptions: Sendable {
    package var address: HTTPAddress?
    /// The name of the stream. `nil` selects the first live stream.
    package var stream: String?
  }

  /// The options for acting on an Owncast server.
  package struct OwncastOptions: Sendable {
    package var tokenFile: String?
  }

  /// The options for receiving webhooks.
  package struct WebhookOptions: Sendable {
    package var listen: PeerAddress?
    package var mappingFile: String?
    package var secretFile: String?
    /// Whether other machines may connect.
    package var allowsRemote = false
    package var maximumKibibytes = 256
    /// The parsed mapping file, or `nil` before it was read.
    package var mapping: WebhookMapping?
  }

  /// The options for Social Stream Ninja.
  package struct SocialStreamOptions: Sendable {
    package var session: Secret?
    package var server: HTTPAddress?
  }

  package mutating func readMapping() throws(ConfigurationError) {
    guard kind == .webhook, let file = webhook.mappingFile else { return }
    if let preset = try WebhookMapping.preset(file) {
      webhook.mapping = preset
    } else {
      webhook.mapping = try WebhookMapping(file: file)
    }
  }
}

extension SourceConfiguration.SocialStreamOptions {
  /// Returns whether a text is a valid session identifier, which becomes part of an address.
  package static func isSession(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 128
      && text.utf8.allSatisfy {
        ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2D
          || $0 == 0x5F
      }
  }
}

extension PeerAddress {
  /// Whether only this machine can reach the address.
  var isLoopback: Bool {
    host == "localhost" || host == "::1"
      || host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }.count == 4
        && host.hasPrefix("127.") && !host.contains { !$0.isNumber && $0 != "." }
  }
}

extension SourceConfiguration: FileConfiguration {
  package static let program = "livehost-source"
  package static let subject = "a source of livehost"

  package static let keys: [FileKey<SourceConfiguration>] = [
    .value(
      "kind",
      "The kind of source: twitch, eventsub, obs, nginx-rtmp, mediamtx, owncast, webhook or "
        + "social-stream. Required.", \.kind, default: "twitch"
    ) { value throws(ConfigurationError) in
      try value.choice(Kind.allCases.map { ($0.rawValue, $0) })
    },
    .value(
      "room", "The room of all events of the source; by default each channel is a room.", \.room
    ) { value throws(ConfigurationError) in
      let text = value.scalar ?? "?"
      guard text.isEmpty || RoomName(text) != nil else {
        throw value.problem("'\(text)' is not a room name: [a-z0-9_][a-z0-9_.-]{0,63}")
      }
      return RoomName(text)
    },
    .optionalText(
      "ingest",
      "The daemon's ingest socket; by default the socket of your own daemon if it runs, otherwise "
        + "/run/livehost/ingest.", \.ingest),
    .value(
      "patience",
      "How long livehostd may be unreachable before the source exits with status 69; forever sets "
        + "no limit.", \.patience, default: "forever"
    ) { value throws(ConfigurationError) in
      value.scalar == "forever" ? nil : try value.interval(positive: true)
    },
    .integer(
      "bufferMebibytes",
      "Memory for lines that livehostd has not acknowledged; when it is full, the source stops "
        + "reading.",
      \.bufferMebibytes, in: 1...1024),
    .optionalText(
      "control",
      "The daemon's control socket, for sources that carry out requests of the host; by default the "
        + "socket beside the ingest socket.", \.control),
    .value(
      "acts",
      "The acts that the source carries out on its platform for the host, such as [say, delete]; "
        + "all means all that the source can carry out.", \.acts, default: "all"
    ) { value throws(ConfigurationError) in
      if value.scalar == "all" { return nil }
      var kinds: [ActKind] = []
      for element in try value.list() {
        kinds.append(try element.choice(ActKind.allCases.map { ($0.rawValue, $0) }))
      }
      return kinds
    },
    .value(
      "twitch.channels", "The channels to read. Required.", \.twitch.channels, default: "[]",
      read: channels),
    .value(
      "twitch.server", "The chat server.", \.twitch.server, default: "irc.chat.twitch.tv:6697",
      read: address(defaultPort: TwitchSettings.server.port)),
    .boolean(
      "twitch.tls", "Whether to use TLS and verify the server's certificate.", \.twitch.usesTLS),
    .optionalText(
      "twitch.certificates", "A PEM file of authorities to trust instead of the system's.",
      \.twitch.certificates),
    .optionalText(
      "twitch.account", "The account of the token; by default the account of the first channel.",
      \.twitch.account),
    .optionalText(
      "twitch.tokenFile",
      "A file with an OAuth token (scope chat:read); by default the unit's systemd credential "
        + "named token. Without a token, chats are read anonymously.", \.twitch.tokenFile),
    .integer(
      "twitch.channelsPerConnection",
      "The number of channels per connection; 50 to 100 work well with Twitch.",
      \.twitch.channelsPerConnection, in: 1...100),
    .integer(
      "twitch.joinsPerTenSeconds",
      "The maximum number of joins in ten seconds: 20, or 2000 for verified bots.",
      \.twitch.joinsPerTenSeconds, in: 1...2000),
    .optionalText(
      "twitch.loginFile",
      "The file written by livehostctl login twitch, which the source renews; by default the "
        + "unit's systemd credential named login.", \.twitch.loginFile),
    .boolean(
      "twitch.events",
      "Whether to read events of the first channel that are not part of its chat; requires a login "
        + "or token.", \.twitch.readsEvents),
    .value(
      "twitch.eventsURL", "The address of EventSub's WebSocket.", \.twitch.eventsURL,
      default: EventSubSettings.Servers().events, read: secureAddress(.webSocket)),
    .value(
      "twitch.api", "The API server for EventSub subscriptions.", \.twitch.api,
      default: EventSubSettings.Servers().api, read: secureAddress(.http)),
    .value(
      "twitch.logins", "The server that renews logins.", \.twitch.logins,
      default: EventSubSettings.Servers().logins, read: secureAddress(.http)),
    .value(
      "twitch.history",
      "A service that returns missed messages, such as https://HOST/api/v2/recent-messages. Such "
        + "services belong to third parties, so by default none is used.",
      \.twitch.history, read: optionalAddress("https")),
    .value(
      "obs.server", "OBS's WebSocket server.", \.obs.server, default: "127.0.0.1:4455",
      read: address(defaultPort: ObsSettings.address.port)),
    .optionalText(
      "obs.passwordFile",
      "A file with the server's password; by default the unit's systemd credential named token.",
      \.obs.passwordFile),
    .value(
      "server.url",
      "The address of an ingest server's statistics: the page of rtmp_stat, or the address of the "
        + "server. Required for nginx-rtmp, mediamtx and owncast.",
      \.server.address, read: optionalAddress("http")),
    .optionalText(
      "server.stream",
      "The name of the stream to monitor, or the last part of its name; by default the first live "
        + "stream.", \.server.stream),
    .optionalText(
      "owncast.tokenFile",
      "A file with an access token of Owncast, for acts on the chat and the title; by default the "
        + "unit's systemd credential named login. Without a token, the source only watches.",
      \.owncast.tokenFile),
    .value(
      "webhook.listen",
      "The listening address for webhooks, such as 127.0.0.1:8090. Required for webhook; owncast "
        + "receives its chat there.", \.webhook.listen
    ) { value throws(ConfigurationError) in
      guard let text = value.filled else { return nil }
      guard let address = PeerAddress(text, defaultPort: 0) else {
        throw value.problem("expected HOST:PORT, such as 127.0.0.1:8090, not '\(text)'")
      }
      return address
    },
    .optionalText(
      "webhook.mapping",
      "The mapping file for deliveries, or the sender: buy-me-a-coffee, ko-fi, owncast, patreon, "
        + "streamelements or streamlabs. Required for webhook.", \.webhook.mappingFile),
    .optionalText(
      "webhook.secretFile",
      "A file with the senders' secret; by default the unit's systemd credential named token.",
      \.webhook.secretFile),
    .boolean(
      "webhook.allowRemote", "Whether other machines may connect; requires a secret.",
      \.webhook.allowsRemote),
    .integer(
      "webhook.maximumKibibytes",
      "The maximum size of a delivery's body; larger bodies are refused.",
      \.webhook.maximumKibibytes, in: 1...1024),
    .value(
      "socialStream.session",
      "The session of Social Stream Ninja; by default the unit's systemd credential named token.",
      \.socialStream.session
    ) { value throws(ConfigurationError) in
      guard let text = value.filled else { return nil }
      guard SocialStreamOptions.isSession(text) else {
        throw value.problem(
          "a session consists of letters, digits, - and _; see the dock's address")
      }
      return Secret(text)
    },
    .value(
      "socialStream.server", "The server of Social Stream Ninja.", \.socialStream.server,
      default: SocialStreamSource.server, read: secureAddress(.webSocket)),
  ]

  private typealias Reader<Value> =
    @Sendable (YAMLNode) throws(ConfigurationError) -> Value

  private static func address(defaultPort: Int) -> Reader<PeerAddress> {
    { value throws(ConfigurationError) in
      let text = try value.text()
      guard let address = PeerAddress(text, defaultPort: defaultPort) else {
        throw value.problem("expected HOST:PORT, not '\(text)'")
      }
      return address
    }
  }

  /// Reads an address that may be empty.
  ///
  /// - Parameter scheme: The scheme that an error message recommends. `http` and `https` are
  ///   accepted.
  private static func optionalAddress(_ scheme: String) -> Reader<HTTPAddress?> {
    { value throws(ConfigurationError) in
      let text = value.scalar ?? "?"
      let address = HTTPAddress(text)
      guard text.isEmpty || address != nil else {
        throw value.problem("expected \(scheme)://HOST[:PORT]/PATH, not '\(text)'")
      }
      return address
    }
  }

  /// Reads an address to which tokens may be sent.
  private static func secureAddress(_ scheme: HTTPAddress.Scheme) -> Reader<HTTPAddress?> {
    { value throws(ConfigurationError) in
      let text = try value.text()
      guard let address = HTTPAddress(text, scheme),
        address.protectsSecrets
      else { throw value.problem("expected \(scheme.rawValue)s://HOST[:PORT]/PATH, not '\(text)'") }
      return address
    }
  }

  private static func channels(_ value: YAMLNode) throws(ConfigurationError) -> [String] {
    guard case .list(let elements) = value.content else {
      throw value.problem("expected a list of channels")
    }
    guard elements.count <= TwitchSettings.maximumChannels else {
      throw value.problem("a source reads at most \(TwitchSettings.maximumChannels) channels")
    }
    var names: [String] = []
    for element in elements {
      guard let name = element.scalar.flatMap(TwitchSettings.channel) else {
        throw element.problem("'\(element.scalar ?? "?")' is not a channel: [a-z0-9_]{1,25}")
      }
      guard !names.contains(name) else { throw element.problem("'\(name)' is listed twice") }
      names.append(name)
    }
    return names
  }
}
