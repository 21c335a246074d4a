import Glibc
package import LiveEvents
package import LiveSources
package import MediaServers
package import ObsStudio
package import RateLimiting
import SocialStream
package import TwitchChat
package import TwitchEvents
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

    /// The default platform of the source's events. `nil` if there is none or each event names its
    /// platform.
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
  /// The room of all events. `nil` selects the room that each line names.
  package var room: RoomName?
  /// The path of the daemon's ingest socket. `nil` searches the default locations.
  package var ingest: String?
  /// How long the daemon may be unreachable before the source fails. `nil` sets no limit.
  package var patience: Interval?
  package var bufferMebibytes = 8
  /// The path of the daemon's control socket, for the room's requests. `nil` searches the default
  /// locations.
  package var control: String?
  package var twitch = TwitchOptions()
  package var obs = ObsOptions()
  package var server = ServerOptions()
  package var webhook = WebhookOptions()
  package var socialStream = SocialStreamOptions()

  package init() {}

  /// The options for Twitch: channels, servers and credentials.
  package struct TwitchOptions: Sendable {
    package var channels: [String] = []
    package var server = TwitchSettings.server
    package var usesTLS = true
    /// A PEM file of the authorities to trust instead of the system's.
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

  /// Reads the secret and returns the gate that authenticates senders.
  package func webhookGate(credentials: String?) throws(SourceError) -> WebhookGate {
    let file = webhook.secretFile ?? Self.credential("token", in: credentials)
    guard let file else {
      guard !webhook.allowsRemote else {
        throw .refused("webhooks from other machines require a secret; name a file with it")
      }
      return WebhookGate(secret: nil, maximumBytes: webhook.maximumKibibytes << 10)
    }
    return WebhookGate(secret: try .read(file: file), maximumBytes: webhook.maximumKibibytes << 10)
  }

  /// Returns the session of Social Stream Ninja, from the configuration or from the credential.
  package func socialStreamSession(credentials: String?) throws(SourceError) -> Secret {
    if let session = socialStream.session { return session }
    guard let file = Self.credential("token", in: credentials) else {
      throw .refused("no session of Social Stream Ninja is configured")
    }
    let session = try Secret.read(file: file)
    guard session.reveal(SocialStreamOptions.isSession) else {
      throw .unreadableSecret(path: file, reason: "a session consists of letters, digits, - and _")
    }
    return session
  }

  /// Reads the password and returns the settings for OBS.
  package func obsSettings(credentials: String?) throws(SourceError) -> ObsSettings {
    guard let file = obs.passwordFile ?? Self.credential("token", in: credentials) else {
      return ObsSettings()
    }
    return ObsSettings(password: try .read(file: file, hasSpaces: true))
  }

  /// Reads the token and returns the settings for Twitch chat.
  package func twitchSettings(credentials: String?) throws(SourceError) -> TwitchSettings {
    var settings = TwitchSettings(channels: twitch.channels)
    settings.channelsPerConnection = twitch.channelsPerConnection
    settings.joinsPerTenSeconds = twitch.joinsPerTenSeconds
    if twitch.loginFile == nil,
      let file = twitch.tokenFile ?? Self.credential("token", in: credentials)
    {
      settings.account = TwitchSettings.Account(
        name: twitch.account ?? twitch.channels.first ?? "", token: try .read(file: file))
    }
    return settings
  }

  /// Returns the login for reading events, or `nil` if none is configured.
  ///
  /// - Parameter state: The directory that stores renewals of a login from the service manager.
  package func twitchLogin(
    credentials: String?, state: String?
  ) throws(SourceError) -> TwitchLogin? {
    if let file = twitch.loginFile { return try .read(file: file) }
    if twitch.tokenFile == nil, let given = Self.credential("login", in: credentials), let state {
      return try .renewed(given, keptIn: state + "/twitch.json")
    }
    guard let file = twitch.tokenFile ?? Self.credential("token", in: credentials) else {
      return nil
    }
    return TwitchLogin(token: try .read(file: file))
  }

  /// Returns the path of a credential from the service manager. A file with only an empty line
  /// counts as absent, because the unit's default credential must not be empty.
  private static func credential(_ name: String, in directory: String?) -> String? {
    guard let file = directory.map({ "\($0)/\(name)" }) else { return nil }
    var status = stat()
    return stat(file, &status) == 0 && status.st_size > 1 ? file : nil
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

/// A key of a source's configuration file. The table in this file is the only declaration of keys.
package struct SourceKey: FileKey {
  package static let program = "livehost-source"

  package let path: String
  package let summary: String
  /// The default value as written in the file, or an example after `#`.
  package let defaultValue: String
  package let read:
    @Sendable (YAMLNode, inout SourceConfiguration) throws(ConfigurationError) -> Void

  package static let all: [SourceKey] = [
    SourceKey(
      path: "kind",
      summary:
        "The kind of source: twitch, eventsub, obs, nginx-rtmp, mediamtx, owncast, webhook or "
        + "social-stream. Required.",
      defaultValue: "twitch"
    ) { value, configuration throws(ConfigurationError) in
      configuration.kind = try value.choice(
        SourceConfiguration.Kind.allCases.map { ($0.rawValue, $0) })
    },
    SourceKey(
      path: "room",
      summary: "The room of all events of the source; by default each channel is a room.",
      defaultValue: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      let text = value.scalar ?? "?"
      guard text.isEmpty || RoomName(text) != nil else {
        throw value.problem("'\(text)' is not a room name: [a-z0-9_][a-z0-9_.-]{0,63}")
      }
      configuration.room = RoomName(text)
    },
    SourceKey(
      path: "ingest",
      summary:
        "The daemon's ingest socket; by default the socket of your own daemon if it runs, otherwise "
        + "/run/livehost/ingest.",
      defaultValue: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      configuration.ingest = filled(value)
    },
    SourceKey(
      path: "patience",
      summary:
        "How long livehostd may be unreachable before the source exits with 69; forever sets no "
        + "limit.",
      defaultValue: "forever"
    ) { value, configuration throws(ConfigurationError) in
      configuration.patience =
        value.scalar == "forever" ? nil : try value.interval(positive: true)
    },
    SourceKey(
      path: "bufferMebibytes",
      summary:
        "Memory for lines that wait for livehostd; when it is full, the source stops reading.",
      defaultValue: "8"
    ) { value, configuration throws(ConfigurationError) in
      configuration.bufferMebibytes = try value.integer(in: 1...1024)
    },
    SourceKey(
      path: "control",
      summary:
        "The daemon's control socket, for sources that carry out requests of the host (obs); by "
        + "default the socket beside the ingest socket.",
      defaultValue: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      configuration.control = filled(value)
    },
    SourceKey(
      path: "twitch.channels", summary: "The channels to read. Required.", defaultValue: "[]"
    ) { value, configuration throws(ConfigurationError) in
      configuration.twitch.channels = try channels(value)
    },
    SourceKey(
      path: "twitch.server", summary: "The chat server.",
      defaultValue: "irc.chat.twitch.tv:6697"
    ) { value, configuration throws(ConfigurationError) in
      configuration.twitch.server = try address(value, defaultPort: TwitchSettings.server.port)
    },
    SourceKey(
      path: "twitch.tls",
      summary: "Whether to use TLS and verify the server's certificate.",
      defaultValue: "true"
    ) { value, configuration throws(ConfigurationError) in
      configuration.twitch.usesTLS = try value.boolean()
    },
    SourceKey(
      path: "twitch.certificates",
      summary: "A PEM file of authorities to trust in place of the system's.", defaultValue: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      configuration.twitch.certificates = filled(value)
    },
    SourceKey(
      path: "twitch.account",
      summary: "The account of the token; by default the account of the first channel.",
      defaultValue: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      configuration.twitch.account = filled(value)
    },
    SourceKey(
      path: "twitch.tokenFile",
      summary:
        "A file with an OAuth token (scope chat:read); by default the credential token of the unit. "
        + "Without a token, chats are read anonymously.",
      defaultValue: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      configuration.twitch.tokenFile = filled(value)
    },
    SourceKey(
      path: "twitch.channelsPerConnection",
      summary: "The number of channels per connection; 50 to 100 work well with Twitch.",
      defaultValue: "50"
    ) { value, configuration throws(ConfigurationError) in
      configuration.twitch.channelsPerConnection = try value.integer(in: 1...100)
    },
    SourceKey(
      path: "twitch.joinsPerTenSeconds",
      summary: "The maximum joins in ten seconds: 20, or 2000 for verified bots.",
      defaultValue: "20"
    ) { value, configuration throws(ConfigurationError) in
      configuration.twitch.joinsPerTenSeconds = try value.integer(in: 1...2000)
    },
    SourceKey(
      path: "twitch.loginFile",
      summary:
        "The file written by livehostctl login twitch, which the source renews; by default the "
        + "credential login of the unit.",
      defaultValue: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      configuration.twitch.loginFile = filled(value)
    },
    SourceKey(
      path: "twitch.events",
      summary:
        "Whether to read the first channel's events that are not in its chat; requires a login or "
        + "token.",
      defaultValue: "false"
    ) { value, configuration throws(ConfigurationError) in
      configuration.twitch.readsEvents = try value.boolean()
    },
    SourceKey(
      path: "twitch.eventsURL", summary: "The address of EventSub's WebSocket.",
      defaultValue: EventSubSettings.Servers().events
    ) { value, configuration throws(ConfigurationError) in
      configuration.twitch.eventsURL = try secureAddress(value, .webSocket)
    },
    SourceKey(
      path: "twitch.api", summary: "The API server for EventSub subscriptions.",
      defaultValue: EventSubSettings.Servers().api
    ) { value, configuration throws(ConfigurationError) in
      configuration.twitch.api = try secureAddress(value, .http)
    },
    SourceKey(
      path: "twitch.logins", summary: "The server that renews logins.",
      defaultValue: EventSubSettings.Servers().logins
    ) { value, configuration throws(ConfigurationError) in
      configuration.twitch.logins = try secureAddress(value, .http)
    },
    SourceKey(
      path: "twitch.history",
      summary:
        "A service that returns missed messages, such as https://HOST/api/v2/recent-messages. Such "
        + "services belong to third parties, so by default none is used.",
      defaultValue: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      let text = value.scalar ?? "?"
      configuration.twitch.history = HTTPAddress(text)
      guard text.isEmpty || configuration.twitch.history != nil else {
        throw value.problem("expected https://HOST[:PORT]/PATH, not '\(text)'")
      }
    },
    SourceKey(
      path: "obs.server", summary: "OBS's WebSocket server.", defaultValue: "127.0.0.1:4455"
    ) { value, configuration throws(ConfigurationError) in
      configuration.obs.server = try address(value, defaultPort: ObsSettings.address.port)
    },
    SourceKey(
      path: "obs.passwordFile",
      summary: "A file with the server's password; by default the credential token of the unit.",
      defaultValue: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      configuration.obs.passwordFile = filled(value)
    },
    SourceKey(
      path: "server.url",
      summary:
        "The address of an ingest server's statistics: the page of rtmp_stat, or the address of the "
        + "server. Required for nginx-rtmp, mediamtx and owncast.",
      defaultValue: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      let text = value.scalar ?? "?"
      configuration.server.address = HTTPAddress(text)
      guard text.isEmpty || configuration.server.address != nil else {
        throw value.problem("expected http://HOST[:PORT]/PATH, not '\(text)'")
      }
    },
    SourceKey(
      path: "server.stream",
      summary:
        "The name of the stream to monitor, or the last part of its name; by default the first live "
        + "stream.",
      defaultValue: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      configuration.server.stream = filled(value)
    },
    SourceKey(
      path: "webhook.listen",
      summary:
        "The listening address for webhooks, such as 127.0.0.1:8090. Required for webhook; owncast "
        + "receives its chat there.",
      defaultValue: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      guard let text = filled(value) else { return }
      guard let address = PeerAddress(text, defaultPort: 0) else {
        throw value.problem("expected HOST:PORT, such as 127.0.0.1:8090, not '\(text)'")
      }
      configuration.webhook.listen = address
    },
    SourceKey(
      path: "webhook.mapping",
      summary:
        "The mapping file for deliveries, or the sender: buy-me-a-coffee, ko-fi, owncast, patreon, "
        + "streamelements or streamlabs. Required for webhook.",
      defaultValue: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      configuration.webhook.mappingFile = filled(value)
    },
    SourceKey(
      path: "webhook.secretFile",
      summary:
        "A file with the senders' secret; by default the credential token of the unit.",
      defaultValue: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      configuration.webhook.secretFile = filled(value)
    },
    SourceKey(
      path: "webhook.allowRemote",
      summary: "Whether other machines may connect; requires a secret.",
      defaultValue: "false"
    ) { value, configuration throws(ConfigurationError) in
      configuration.webhook.allowsRemote = try value.boolean()
    },
    SourceKey(
      path: "webhook.maximumKibibytes",
      summary: "The maximum size of a delivery's body; larger ones are refused.",
      defaultValue: "256"
    ) { value, configuration throws(ConfigurationError) in
      configuration.webhook.maximumKibibytes = try value.integer(in: 1...1024)
    },
    SourceKey(
      path: "socialStream.session",
      summary:
        "The session of Social Stream Ninja; by default the credential token of the unit.",
      defaultValue: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      guard let text = filled(value) else { return }
      guard SourceConfiguration.SocialStreamOptions.isSession(text) else {
        throw value.problem(
          "a session consists of letters, digits, - and _; see the dock's address")
      }
      configuration.socialStream.session = Secret(text)
    },
    SourceKey(
      path: "socialStream.server", summary: "The server of Social Stream Ninja.",
      defaultValue: SocialStreamSource.server
    ) { value, configuration throws(ConfigurationError) in
      configuration.socialStream.server = try secureAddress(value, .webSocket)
    },
  ]

  private static func filled(_ value: YAMLNode) -> String? {
    value.scalar.flatMap { $0.isEmpty ? nil : $0 }
  }

  private static func address(
    _ value: YAMLNode, defaultPort: Int
  ) throws(ConfigurationError) -> PeerAddress {
    let text = try value.text()
    guard let address = PeerAddress(text, defaultPort: defaultPort) else {
      throw value.problem("expected HOST:PORT, not '\(text)'")
    }
    return address
  }

  /// Returns an address to which tokens may be sent.
  private static func secureAddress(
    _ value: YAMLNode, _ scheme: HTTPAddress.Scheme
  ) throws(ConfigurationError) -> HTTPAddress {
    let text = try value.text()
    guard let address = HTTPAddress(text, scheme),
      address.isEncrypted || address.isOnThisMachine
    else { throw value.problem("expected \(scheme.rawValue)s://HOST[:PORT]/PATH, not '\(text)'") }
    return address
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
