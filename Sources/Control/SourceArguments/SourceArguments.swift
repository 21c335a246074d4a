package import ArgumentParser

/// What a source in the foreground is told: parsed by `livehostctl connect`, which passes it on, and by
/// `livehost-source`, which runs it.
package protocol SourceArguments: ParsableArguments {
  /// The name of the kind of source.
  static var kind: String { get }
  static var abstract: String { get }
  /// More of it, for those who start it.
  static var discussion: String { get }
  /// The options that were given, as they would be written.
  var options: [String] { get }
  /// The other arguments.
  var operands: [String] { get }
}

/// An option as it would be written; nothing if it was not given.
func option(_ name: String, _ value: String?) -> [String] { value.map { [name, $0] } ?? [] }

/// Chats of Twitch.
package struct TwitchArguments: SourceArguments {
  package static let kind = "twitch"
  package static let abstract = "Read chats of Twitch, anonymously or with a token."
  package static let discussion = """
    Each channel is a room, unless --room names one for all. After 'livehostctl login twitch', or with a \
    token, what the chat does not tell of the first channel (follows, polls, viewers ...) is read as well, \
    see 'connect eventsub'. Ends with 0 on Ctrl-C, 69 if the daemon is gone for a minute, 77 if Twitch \
    refuses the token.

    JSON: one line per report: state and gap of a channel, and each second progress.
    """

  @Argument(help: "Channels to read.") package var channels: [String]
  @Option(help: ArgumentHelp("Chat server instead of Twitch's.", valueName: "host:port"))
  package var server: String?
  @Flag(help: "Do not encrypt the connection.") package var noTls = false
  @Option(
    help: ArgumentHelp(
      "Service with an address like https://HOST/api/v2/recent-messages, which is asked for what was "
        + "missed. Somebody else's: none by default.", valueName: "url"))
  package var history: String?
  @OptionGroup package var events: EventSubOptions

  package init() {}

  package var options: [String] {
    option("--server", server) + (noTls ? ["--no-tls"] : []) + option("--history", history)
      + events.options
  }
  package var operands: [String] { channels }
}

/// How EventSub is reached, and as whom.
package struct EventSubOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "File with an OAuth token; its scopes decide what is told.", valueName: "file"),
    completion: .file())
  package var tokenFile: String?
  @Option(
    help: ArgumentHelp(
      "File that 'livehostctl login twitch' has written; default: its default.", valueName: "file"),
    completion: .file())
  package var loginFile: String?
  @Option(
    help: ArgumentHelp(
      "PEM file of the authorities to trust instead of the system's.", valueName: "file"),
    completion: .file())
  package var ca: String?
  @Option(help: ArgumentHelp("EventSub's WebSocket instead of Twitch's.", valueName: "url"))
  package var url: String?
  @Option(help: ArgumentHelp("Interface of requests instead of Twitch's.", valueName: "url"))
  package var api: String?
  @Option(help: ArgumentHelp("Server of logins instead of Twitch's.", valueName: "url"))
  package var auth: String?

  package init() {}

  package var options: [String] {
    option("--token-file", tokenFile) + option("--login-file", loginFile) + option("--ca", ca)
      + option("--url", url) + option("--api", api) + option("--auth", auth)
  }
}

/// What happens on a channel of Twitch.
package struct EventSubArguments: SourceArguments {
  package static let kind = "eventsub"
  package static let abstract = "Read what happens on a channel of Twitch."
  package static let discussion = """
    Needs 'livehostctl login twitch', or a token. Its scopes decide what is told: chat, follows, hype trains, \
    polls, predictions, redemptions; the stream's state, title and viewers always are. Ends with 0 on Ctrl-C, \
    69 if the daemon is gone for a minute, 77 if Twitch refuses the token.

    JSON: one line per report: state and gap, and each second progress.
    """

  @Argument(help: "Channel to read.") package var channel: String
  @OptionGroup package var events: EventSubOptions

  package init() {}

  package var options: [String] { events.options }
  package var operands: [String] { [channel] }
}

/// OBS.
package struct ObsArguments: SourceArguments {
  package static let kind = "obs"
  package static let abstract = "Watch OBS, and do in it what the screen asks for."
  package static let discussion = """
    Needs OBS's WebSocket server (Tools, WebSocket Server Settings). An input of OBS is a slider and the \
    switch 'mute INPUT', a scene the switch 'scene SCENE'; the switch 'stream' starts and stops the stream. \
    Ends with 0 on Ctrl-C, 69 if the daemon is gone for a minute, 77 if OBS refuses the password.

    JSON: one line per report: state and gap, and each second progress.
    """

  @Argument(help: ArgumentHelp("OBS's server; default: 127.0.0.1:4455.", valueName: "host:port"))
  package var server: String?
  @Option(
    help: ArgumentHelp("File with the server's password.", valueName: "file"),
    completion: .file())
  package var passwordFile: String?

  package init() {}

  package var options: [String] { option("--password-file", passwordFile) }
  package var operands: [String] { server.map { [$0] } ?? [] }
}

/// What the sources of ingest servers take.
package protocol ServerArguments: SourceArguments {
  var url: String { get }
  var stream: StreamOption { get }
}

/// Which stream of a server.
package struct StreamOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The stream to watch, by its name or the last part of it; default: the first one that is live.",
      valueName: "name"))
  package var stream: String?

  package init() {}
}

extension ServerArguments {
  package var options: [String] { option("--stream", stream.stream) }
  package var operands: [String] { [url] }
}

package struct NginxRTMPArguments: ServerArguments {
  package static let kind = "nginx-rtmp"
  package static let abstract = "Watch a stream on an nginx with the RTMP module."
  package static let discussion = """
    Asks for the page of rtmp_stat each second: whether the stream is live, bit rate, viewers. Ends with 0 \
    on Ctrl-C, 69 if the daemon is gone for a minute.

    JSON: one line per report: state and gap, and each second progress.
    """

  @Argument(help: ArgumentHelp("The page of rtmp_stat.", valueName: "url")) package var url: String
  @OptionGroup package var stream: StreamOption

  package init() {}
}

package struct MediaMTXArguments: ServerArguments {
  package static let kind = "mediamtx"
  package static let abstract = "Watch a stream on a MediaMTX."
  package static let discussion = """
    Asks its API, or the page of its metrics, each second: whether the stream is live, bit rate, viewers, and \
    its delay if it comes over SRT. Ends with 0 on Ctrl-C, 69 if the daemon is gone for a minute.

    JSON: one line per report: state and gap, and each second progress.
    """

  @Argument(
    help: ArgumentHelp(
      "The API, such as http://127.0.0.1:9997, or http://127.0.0.1:9998/metrics.", valueName: "url")
  )
  package var url: String
  @OptionGroup package var stream: StreamOption

  package init() {}
}

package struct OwncastArguments: ServerArguments {
  package static let kind = "owncast"
  package static let abstract = "Watch the stream of an Owncast."
  package static let discussion = """
    Asks for its status each second: whether the stream is live, and viewers. With --listen its chat is read as \
    well: Owncast sends it to http://HOST:PORT/?secret=SECRET, entered under Integrations, Webhooks. Ends with 0 \
    on Ctrl-C, 69 if the daemon is gone for a minute.

    JSON: one line per report: state and gap, and each second progress.
    """

  @Argument(help: ArgumentHelp("The server, such as https://stream.example.", valueName: "url"))
  package var url: String
  @OptionGroup package var stream: StreamOption
  @Option(help: ArgumentHelp("Where its webhooks are taken.", valueName: "host:port"))
  package var listen: String?
  @OptionGroup package var sender: SenderOptions

  package init() {}

  package var options: [String] {
    option("--stream", stream.stream) + option("--listen", listen) + sender.options
  }
}

/// Who may send webhooks.
package struct SenderOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "File with the secret that senders must know: as 'Authorization: Bearer SECRET', "
        + "'X-Livehost-Secret: SECRET' or '?secret=SECRET'.", valueName: "file"),
    completion: .file())
  package var secretFile: String?
  @Flag(help: "Listen where other machines reach it; needs a secret.")
  package var allowRemote = false

  package init() {}

  package var options: [String] {
    option("--secret-file", secretFile) + (allowRemote ? ["--allow-remote"] : [])
  }
}

/// Whatever sends webhooks.
package struct WebhookArguments: SourceArguments {
  package static let kind = "webhook"
  package static let abstract = "Take webhooks: events that others send by HTTP."
  package static let discussion = """
    A mapping file says which events deliveries are, see livehost-source(8). A sender gets 200 once its events \
    are safe, and 503 if it should send them again. Only this machine reaches the address, unless \
    --allow-remote is given. Ends with 0 on Ctrl-C, 69 if the daemon is gone for a minute, 78 if there is a \
    mistake in the mapping.

    JSON: one line per report: state and gap, and each second progress.
    """

  @Option(help: ArgumentHelp("Where to listen, such as 127.0.0.1:8090.", valueName: "host:port"))
  package var listen: String
  @Option(
    help: ArgumentHelp(
      "File that says what deliveries mean, or the sender: buy-me-a-coffee, ko-fi, owncast, patreon, "
        + "streamelements or streamlabs.", valueName: "file"),
    completion: .file())
  package var mapping: String
  @OptionGroup package var sender: SenderOptions

  package init() {}

  package var options: [String] {
    option("--listen", listen) + option("--mapping", mapping) + sender.options
  }
  package var operands: [String] { [] }
}

/// The chats that Social Stream Ninja gathers.
package struct SocialStreamArguments: SourceArguments {
  package static let kind = "social-stream"
  package static let abstract = "Read the chats that Social Stream Ninja gathers."
  package static let discussion = """
    The session is in the address of its dock. In its settings, under Mechanics, 'Enable remote API control' \
    and 'Send chat messages to API server' must be on. Ends with 0 on Ctrl-C, 69 if the daemon is gone for a \
    minute.

    JSON: one line per report: state and gap, and each second progress.
    """

  @Argument(help: "Session to read.") package var session: String
  @Option(help: ArgumentHelp("Server instead of io.socialstream.ninja.", valueName: "url"))
  package var server: String?

  package init() {}

  package var options: [String] { option("--server", server) }
  package var operands: [String] { [session] }
}
