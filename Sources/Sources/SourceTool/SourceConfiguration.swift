import Glibc
package import IngestServers
package import LiveEvents
package import LiveSources
package import ObsStudio
package import RateLimiting
import SocialStream
package import TwitchChat
package import TwitchEvents
package import Webhooks
package import YAMLReader

/// What one source does: the configuration file of a service, or the arguments of a source in the foreground.
package struct SourceConfiguration: Sendable {
  /// The kinds of sources. A further kind is a case here, its keys below, and its start in ``SourceRun``.
  package enum Kind: String, CaseIterable, Sendable {
    case twitch, eventsub, obs
    case nginxRTMP = "nginx-rtmp"
    case mediaMTX = "mediamtx"
    case owncast
    case webhook
    case socialStream = "social-stream"

    /// The platform of what it tells; `nil` if that is of none, or says so itself.
    package var platform: String? {
      switch self {
      case .twitch, .eventsub: "twitch"
      case .owncast: rawValue
      case .obs, .nginxRTMP, .mediaMTX, .webhook, .socialStream: nil
      }
    }

    /// The kind of ingest server that it watches; `nil` for other kinds.
    package var server: IngestServer? {
      switch self {
      case .twitch, .eventsub, .obs, .webhook, .socialStream: nil
      case .nginxRTMP: .nginxRTMP
      case .mediaMTX: .mediaMTX
      case .owncast: .owncast
      }
    }
  }

  package var kind: Kind?
  /// The room of everything; `nil` for the room that a line names.
  package var room: RoomName?
  /// The daemon's ingest socket; `nil` looks for it.
  package var ingest: String?
  /// How long the daemon may be away; `nil` waits without end.
  package var patience: Interval?
  package var bufferMebibytes = 8
  /// The daemon's control socket, over which it says what the screen asks for; `nil` looks for it.
  package var control: String?
  package var twitch = TwitchOptions()
  package var obs = ObsOptions()
  package var server = ServerOptions()
  package var webhook = WebhookOptions()
  package var socialStream = SocialStreamOptions()

  package init() {}

  /// Where the chats of Twitch are read, and as whom.
  package struct TwitchOptions: Sendable {
    package var channels: [String] = []
    package var server = TwitchSettings.server
    package var usesTLS = true
    /// A PEM file of authorities to trust instead of the system's.
    package var certificates: String?
    package var account: String?
    package var tokenFile: String?
    package var channelsPerConnection = 50
    package var joinsPerTenSeconds = 20
    /// The service that knows what was missed.
    package var history: HTTPAddress?
    /// What `livehostctl login twitch` has written.
    package var loginFile: String?
    package var eventsURL: HTTPAddress?
    package var api: HTTPAddress?
    package var logins: HTTPAddress?
    /// Whether the events of the first channel are read beside the chats.
    package var readsEvents = false

    package var hasLogin: Bool { loginFile != nil || tokenFile != nil }
  }

  /// Which OBS is watched.
  package struct ObsOptions: Sendable {
    package var server = ObsSettings.address
    package var passwordFile: String?
  }

  /// Which stream is watched on an ingest server.
  package struct ServerOptions: Sendable {
    package var address: HTTPAddress?
    /// The name of the stream; `nil` for the first one that is live.
    package var stream: String?
  }

  /// Where webhooks are taken, from whom, and what they mean.
  package struct WebhookOptions: Sendable {
    package var listen: PeerAddress?
    package var mappingFile: String?
    package var secretFile: String?
    /// Whether other machines may reach it.
    package var allowsRemote = false
    package var maximumKibibytes = 256
    /// What the mapping file says, once it was read.
    package var mapping: WebhookMapping?
  }

  /// Which session of Social Stream Ninja is read.
  package struct SocialStreamOptions: Sendable {
    package var session: Secret?
    package var server: HTTPAddress?
  }

  /// Reads the mapping file and checks what depends on other files.
  package mutating func readMapping() throws(ConfigurationError) {
    guard kind == .webhook, let file = webhook.mappingFile else { return }
    if let preset = try WebhookMapping.preset(file) {
      webhook.mapping = preset
    } else {
      webhook.mapping = try WebhookMapping(file: file)
    }
  }

  /// Who may send webhooks; reads the secret.
  package func webhookGate(credentials: String?) throws(SourceError) -> WebhookGate {
    let file = webhook.secretFile ?? Self.credential("token", in: credentials)
    guard let file else {
      guard !webhook.allowsRemote else {
        throw .refused("webhooks from other machines need a secret; name a file with one")
      }
      return WebhookGate(secret: nil, maximumBytes: webhook.maximumKibibytes << 10)
    }
    return WebhookGate(secret: try .read(file: file), maximumBytes: webhook.maximumKibibytes << 10)
  }

  /// The session of Social Stream Ninja; reads the credential.
  package func socialStreamSession(credentials: String?) throws(SourceError) -> Secret {
    if let session = socialStream.session { return session }
    guard let file = Self.credential("token", in: credentials) else {
      throw .refused("no session of Social Stream Ninja is named")
    }
    let session = try Secret.read(file: file)
    guard session.reveal(SocialStreamOptions.isSession) else {
      throw .unreadableSecret(path: file, reason: "a session is letters, digits, - and _")
    }
    return session
  }

  /// The settings of a session with OBS; reads the password.
  package func obsSettings(credentials: String?) throws(SourceError) -> ObsSettings {
    guard let file = obs.passwordFile ?? Self.credential("token", in: credentials) else {
      return ObsSettings()
    }
    return ObsSettings(password: try .read(file: file, hasSpaces: true))
  }

  /// The session's settings; reads the token.
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

  /// Who reads events; `nil` without a login.
  ///
  /// - Parameter state: where a login that the service manager hands over is kept once it was renewed.
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

  /// What the service manager hands over under a name; an empty line stands for nothing, since the unit needs a
  /// default that is not empty.
  private static func credential(_ name: String, in directory: String?) -> String? {
    guard let file = directory.map({ "\($0)/\(name)" }) else { return nil }
    var status = stat()
    return stat(file, &status) == 0 && status.st_size > 1 ? file : nil
  }
}

extension SourceConfiguration.SocialStreamOptions {
  /// Whether a text can be a session: it becomes part of an address.
  package static func isSession(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 128
      && text.utf8.allSatisfy {
        ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2D
          || $0 == 0x5F
      }
  }
}

extension PeerAddress {
  /// Whether only this machine reaches it.
  var isLoopback: Bool {
    host == "localhost" || host == "::1"
      || host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }.count == 4
        && host.hasPrefix("127.") && !host.contains { !$0.isNumber && $0 != "." }
  }
}

/// A key of a source's configuration file. The table is the only place where keys are declared.
package struct SourceKey: FileKey {
  package static let program = "livehost-source"

  package let path: String
  package let meaning: String
  /// Its default, as it would be written; or an example after `#`.
  package let standard: String
  package let read:
    @Sendable (YAMLNode, inout SourceConfiguration) throws(ConfigurationError) -> Void

  package static let all: [SourceKey] = [
    SourceKey(
      path: "kind",
      meaning:
        "What the source is: twitch, eventsub, obs, nginx-rtmp, mediamtx, owncast, webhook or "
        + "social-stream. Required.",
      standard: "twitch"
    ) { value, configuration throws(ConfigurationError) in
      configuration.kind = try value.choice(
        SourceConfiguration.Kind.allCases.map { ($0.rawValue, $0) })
    },
    SourceKey(
      path: "room",
      meaning: "The room of everything that the source tells; by default each channel is a room.",
      standard: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      let text = value.scalar ?? "?"
      guard text.isEmpty || RoomName(text) != nil else {
        throw value.problem("'\(text)' is not a room name: [a-z0-9_][a-z0-9_.-]{0,63}")
      }
      configuration.room = RoomName(text)
    },
    SourceKey(
      path: "ingest",
      meaning:
        "The daemon's ingest socket; by default that of your own daemon if it runs, else /run/livehost/ingest.",
      standard: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      configuration.ingest = filled(value)
    },
    SourceKey(
      path: "patience",
      meaning:
        "How long livehostd may be away before the source ends with status 69; forever never ends it.",
      standard: "forever"
    ) { value, configuration throws(ConfigurationError) in
      configuration.patience =
        value.scalar == "forever" ? nil : try value.interval(positive: true)
    },
    SourceKey(
      path: "bufferMebibytes",
      meaning:
        "Memory for lines that wait for livehostd; when it is full, the source stops reading.",
      standard: "8"
    ) { value, configuration throws(ConfigurationError) in
      configuration.bufferMebibytes = try value.integer(in: 1...1024)
    },
    SourceKey(
      path: "control",
      meaning:
        "The daemon's control socket, for sources that do what the screen asks for (obs); by default that beside "
        + "the ingest socket.",
      standard: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      configuration.control = filled(value)
    },
    SourceKey(
      path: "twitch.channels", meaning: "The channels to read. Required.", standard: "[]"
    ) { value, configuration throws(ConfigurationError) in
      configuration.twitch.channels = try channels(value)
    },
    SourceKey(
      path: "twitch.server", meaning: "The chat server.",
      standard: "irc.chat.twitch.tv:6697"
    ) { value, configuration throws(ConfigurationError) in
      configuration.twitch.server = try address(value, defaultPort: TwitchSettings.server.port)
    },
    SourceKey(
      path: "twitch.tls",
      meaning: "Whether the connection is encrypted, and the server's certificate checked.",
      standard: "true"
    ) { value, configuration throws(ConfigurationError) in
      configuration.twitch.usesTLS = try value.boolean()
    },
    SourceKey(
      path: "twitch.certificates",
      meaning: "A PEM file of the authorities to trust instead of the system's.", standard: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      configuration.twitch.certificates = filled(value)
    },
    SourceKey(
      path: "twitch.account",
      meaning: "The account that a token belongs to; by default that of the first channel.",
      standard: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      configuration.twitch.account = filled(value)
    },
    SourceKey(
      path: "twitch.tokenFile",
      meaning:
        "A file with an OAuth token (scope chat:read); by default the credential token of the unit, "
        + "else the chats are read anonymously.",
      standard: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      configuration.twitch.tokenFile = filled(value)
    },
    SourceKey(
      path: "twitch.channelsPerConnection",
      meaning: "How many channels share a connection; Twitch serves 50 to 100 well.",
      standard: "50"
    ) { value, configuration throws(ConfigurationError) in
      configuration.twitch.channelsPerConnection = try value.integer(in: 1...100)
    },
    SourceKey(
      path: "twitch.joinsPerTenSeconds",
      meaning: "How many channels may be joined in ten seconds: 20, or 2000 for verified bots.",
      standard: "20"
    ) { value, configuration throws(ConfigurationError) in
      configuration.twitch.joinsPerTenSeconds = try value.integer(in: 1...2000)
    },
    SourceKey(
      path: "twitch.loginFile",
      meaning:
        "The file of livehostctl login twitch, which the source renews; by default the credential login of the "
        + "unit.",
      standard: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      configuration.twitch.loginFile = filled(value)
    },
    SourceKey(
      path: "twitch.events",
      meaning:
        "Whether what the chat does not tell of the first channel is read as well: needs a login or token.",
      standard: "false"
    ) { value, configuration throws(ConfigurationError) in
      configuration.twitch.readsEvents = try value.boolean()
    },
    SourceKey(
      path: "twitch.eventsURL", meaning: "EventSub's WebSocket.",
      standard: EventSubSettings.Servers().events
    ) { value, configuration throws(ConfigurationError) in
      configuration.twitch.eventsURL = try secureAddress(value, .webSocket)
    },
    SourceKey(
      path: "twitch.api", meaning: "Where EventSub's subscriptions are made.",
      standard: EventSubSettings.Servers().api
    ) { value, configuration throws(ConfigurationError) in
      configuration.twitch.api = try secureAddress(value, .http)
    },
    SourceKey(
      path: "twitch.logins", meaning: "Where logins are renewed.",
      standard: EventSubSettings.Servers().logins
    ) { value, configuration throws(ConfigurationError) in
      configuration.twitch.logins = try secureAddress(value, .http)
    },
    SourceKey(
      path: "twitch.history",
      meaning:
        "A service such as https://HOST/api/v2/recent-messages that is asked for what was missed; it is "
        + "somebody else's, so by default there is none.",
      standard: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      let text = value.scalar ?? "?"
      configuration.twitch.history = HTTPAddress(text)
      guard text.isEmpty || configuration.twitch.history != nil else {
        throw value.problem("expected https://HOST[:PORT]/PATH, not '\(text)'")
      }
    },
    SourceKey(
      path: "obs.server", meaning: "OBS's WebSocket server.", standard: "127.0.0.1:4455"
    ) { value, configuration throws(ConfigurationError) in
      configuration.obs.server = try address(value, defaultPort: ObsSettings.address.port)
    },
    SourceKey(
      path: "obs.passwordFile",
      meaning: "A file with the server's password; by default the credential token of the unit.",
      standard: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      configuration.obs.passwordFile = filled(value)
    },
    SourceKey(
      path: "server.url",
      meaning:
        "Where an ingest server tells its streams: the page of rtmp_stat, else the server itself. "
        + "Required for nginx-rtmp, mediamtx and owncast.",
      standard: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      let text = value.scalar ?? "?"
      configuration.server.address = HTTPAddress(text)
      guard text.isEmpty || configuration.server.address != nil else {
        throw value.problem("expected http://HOST[:PORT]/PATH, not '\(text)'")
      }
    },
    SourceKey(
      path: "server.stream",
      meaning:
        "The stream to watch, as the server names it, or the last part of its name; by default the first one "
        + "that is live.",
      standard: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      configuration.server.stream = filled(value)
    },
    SourceKey(
      path: "webhook.listen",
      meaning:
        "Where webhooks are taken, such as 127.0.0.1:8090. Required for webhook; with owncast, its chat "
        + "comes this way.",
      standard: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      guard let text = filled(value) else { return }
      guard let address = PeerAddress(text, defaultPort: 0) else {
        throw value.problem("expected HOST:PORT, such as 127.0.0.1:8090, not '\(text)'")
      }
      configuration.webhook.listen = address
    },
    SourceKey(
      path: "webhook.mapping",
      meaning:
        "The file that says what deliveries mean, or the sender: buy-me-a-coffee, ko-fi, owncast, patreon, "
        + "streamelements or streamlabs. Required for webhook.",
      standard: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      configuration.webhook.mappingFile = filled(value)
    },
    SourceKey(
      path: "webhook.secretFile",
      meaning:
        "A file with the secret that senders must know; by default the credential token of the unit.",
      standard: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      configuration.webhook.secretFile = filled(value)
    },
    SourceKey(
      path: "webhook.allowRemote",
      meaning: "Whether it may listen where other machines reach it; needs a secret.",
      standard: "false"
    ) { value, configuration throws(ConfigurationError) in
      configuration.webhook.allowsRemote = try value.boolean()
    },
    SourceKey(
      path: "webhook.maximumKibibytes",
      meaning: "The longest body of a delivery; longer ones are refused.", standard: "256"
    ) { value, configuration throws(ConfigurationError) in
      configuration.webhook.maximumKibibytes = try value.integer(in: 1...1024)
    },
    SourceKey(
      path: "socialStream.session",
      meaning:
        "The session of Social Stream Ninja; by default the credential token of the unit.",
      standard: "\"\""
    ) { value, configuration throws(ConfigurationError) in
      guard let text = filled(value) else { return }
      guard SourceConfiguration.SocialStreamOptions.isSession(text) else {
        throw value.problem(
          "a session is letters, digits, - and _; it is in the address of the dock")
      }
      configuration.socialStream.session = Secret(text)
    },
    SourceKey(
      path: "socialStream.server", meaning: "Its server.", standard: SocialStreamSource.server
    ) { value, configuration throws(ConfigurationError) in
      configuration.socialStream.server = try secureAddress(value, .webSocket)
    },
  ]

  /// Text; `nil` if there is none.
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

  /// Where tokens may be sent.
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
