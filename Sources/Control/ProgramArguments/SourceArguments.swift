package import ArgumentParser

/// The arguments of a source that runs in the foreground. `livehostctl connect` checks the
/// arguments, and passes them unchanged to `livehost-source`, which parses them again and runs the
/// source.
package protocol SourceArguments: ParsableArguments {
  /// The argument that selects this kind of source, such as `twitch`.
  static var kind: String { get }
  static var abstract: String { get }
  /// The paragraph that the help page shows below the abstract.
  static var discussion: String { get }
}

/// The arguments of the source that reads Twitch chats.
package struct TwitchArguments: SourceArguments {
  package static let kind = "twitch"
  package static let abstract = "Read Twitch chats, anonymously or with a token."
  package static let discussion = """
    Each channel is a room, unless --room names one room for all. After 'livehostctl login \
    twitch', or with a token, also reads the events of the first channel that are not in its chat, \
    such as follows, polls and viewer counts; see 'connect eventsub'. Exits with 0 on Ctrl-C, with \
    69 if the daemon is unreachable for a minute, and with 77 if Twitch refuses the token.

    JSON: one line per report: state and gap of a channel, and progress every second.
    """

  @Argument(help: "Channels to read.") package var channels: [String]
  @Option(help: ArgumentHelp("Chat server to use instead of Twitch's.", valueName: "host:port"))
  package var server: String?
  @Flag(help: "Do not encrypt the connection.") package var noTls = false
  @Option(
    help: ArgumentHelp(
      "Service from which missed messages are requested, such as "
        + "https://HOST/api/v2/recent-messages. Run by third parties; none by default.",
      valueName: "url"))
  package var history: String?
  @OptionGroup package var events: EventSubOptions

  package init() {}
}

/// The options for connecting and logging in to EventSub.
package struct EventSubOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "File with an OAuth token, whose scopes determine the available events.", valueName: "file"),
    completion: .file())
  package var tokenFile: String?
  @Option(
    help: ArgumentHelp(
      "File written by 'livehostctl login twitch'. Default: the default of that verb.",
      valueName: "file"),
    completion: .file())
  package var loginFile: String?
  @Option(
    help: ArgumentHelp(
      "PEM file with the authorities to trust instead of the system's.", valueName: "file"),
    completion: .file())
  package var ca: String?
  @Option(help: ArgumentHelp("WebSocket of EventSub to use instead of Twitch's.", valueName: "url"))
  package var url: String?
  @Option(help: ArgumentHelp("API for requests to use instead of Twitch's.", valueName: "url"))
  package var api: String?
  @Option(help: ArgumentHelp("Login server to use instead of Twitch's.", valueName: "url"))
  package var auth: String?
  @OptionGroup package var acts: ActOptions

  package init() {}
}

/// The arguments of the source that reads EventSub, Twitch's service for events of a channel.
package struct EventSubArguments: SourceArguments {
  package static let kind = "eventsub"
  package static let abstract = "Read the events of a Twitch channel."
  package static let discussion = """
    Needs 'livehostctl login twitch', or a token. The scopes of the login determine the available \
    events: chat, follows, hype trains, polls, predictions, redemptions. The stream's state, title \
    and viewers are always available. The scopes also determine the acts that the host can carry \
    out on Twitch; see 'livehostctl login twitch --acts'. Exits with 0 on Ctrl-C, with 69 if the daemon is unreachable \
    for a minute, and with 77 if Twitch refuses the token.

    JSON: one line per report: state and gap, and progress every second.
    """

  @Argument(help: "Channel to read.") package var channel: String
  @OptionGroup package var events: EventSubOptions

  package init() {}
}

/// The arguments of the source that connects to OBS.
package struct ObsArguments: SourceArguments {
  package static let kind = "obs"
  package static let abstract = "Watch OBS, and control it from the screen."
  package static let discussion = """
    Needs OBS's WebSocket server (Tools, WebSocket Server Settings). Each input of OBS becomes a \
    slider and the switch 'mute INPUT'; each scene becomes the switch 'scene SCENE'. The switch \
    'stream' starts and stops the stream. Exits with 0 on Ctrl-C, with 69 if the daemon is \
    unreachable for a minute, and with 77 if OBS refuses the password.

    JSON: one line per report: state and gap, and progress every second.
    """

  @Argument(help: ArgumentHelp("OBS's server. Default: 127.0.0.1:4455.", valueName: "host:port"))
  package var server: String?
  @Option(
    help: ArgumentHelp("File with the server's password.", valueName: "file"),
    completion: .file())
  package var passwordFile: String?

  package init() {}
}

/// The option that restricts the acts of a source.
package struct ActOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Acts that the host may carry out on the platform, separated by commas, or none. Default: all "
        + "that the source can carry out.", valueName: "acts"))
  package var acts: String?

  package init() {}
}

/// The arguments that are common to the sources for all kinds of ingest server.
package protocol ServerArguments: SourceArguments {
  var url: String { get }
  var stream: StreamOption { get }
}

/// The option that selects a stream of a server.
package struct StreamOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Name of the stream to watch, or its last part. Default: the first live stream.",
      valueName: "name"))
  package var stream: String?

  package init() {}
}

package struct NginxRTMPArguments: ServerArguments {
  package static let kind = "nginx-rtmp"
  package static let abstract = "Watch a stream on an nginx server with the RTMP module."
  package static let discussion = """
    Requests the page of rtmp_stat every second, to see whether the stream is live, its bit rate \
    and its viewers. Exits with 0 on Ctrl-C, and with 69 if the daemon is unreachable for a \
    minute.

    JSON: one line per report: state and gap, and progress every second.
    """

  @Argument(help: ArgumentHelp("Address of the statistics page (rtmp_stat).", valueName: "url"))
  package var url: String
  @OptionGroup package var stream: StreamOption

  package init() {}
}

package struct MediaMTXArguments: ServerArguments {
  package static let kind = "mediamtx"
  package static let abstract = "Watch a stream on a MediaMTX server."
  package static let discussion = """
    Queries the server's API, or its page of metrics, every second, to see whether the stream is \
    live, its bit rate, its viewers, and its delay if it arrives over SRT. Exits with 0 on Ctrl-C, \
    and with 69 if the daemon is unreachable for a minute.

    JSON: one line per report: state and gap, and progress every second.
    """

  @Argument(
    help: ArgumentHelp(
      "Address of the API, such as http://127.0.0.1:9997, or of the metrics page, such as "
        + "http://127.0.0.1:9998/metrics.", valueName: "url")
  )
  package var url: String
  @OptionGroup package var stream: StreamOption

  package init() {}
}

package struct OwncastArguments: ServerArguments {
  package static let kind = "owncast"
  package static let abstract = "Watch the stream of an Owncast server."
  package static let discussion = """
    Requests the server's status every second, to see whether the stream is live, and its viewers. \
    With --listen, also receives the chat: enter the address http://HOST:PORT/?secret=SECRET in \
    Owncast under Integrations, Webhooks. With --token-file, also writes in the chat, deletes \
    messages and sets the title. Exits with 0 on Ctrl-C, and with 69 if the daemon is unreachable \
    for a minute.

    JSON: one line per report: state and gap, and progress every second.
    """

  @Argument(
    help: ArgumentHelp("Address of the server, such as https://stream.example.", valueName: "url"))
  package var url: String
  @OptionGroup package var stream: StreamOption
  @Option(
    help: ArgumentHelp(
      "Address on which to receive the server's webhooks.", valueName: "host:port"))
  package var listen: String?
  @OptionGroup package var sender: SenderOptions
  @Option(
    help: ArgumentHelp(
      "File with an access token of the server, for acts on the chat and the title.",
      valueName: "file"),
    completion: .file())
  package var tokenFile: String?
  @OptionGroup package var acts: ActOptions

  package init() {}
}

/// The options that restrict the senders of webhooks.
package struct SenderOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "File with a secret, which senders must include as 'Authorization: Bearer SECRET', "
        + "'X-Livehost-Secret: SECRET' or '?secret=SECRET'.", valueName: "file"),
    completion: .file())
  package var secretFile: String?
  @Flag(help: "Allow an address that other machines can reach; requires a secret.")
  package var allowRemote = false

  package init() {}
}

/// The arguments of the source that receives webhooks.
package struct WebhookArguments: SourceArguments {
  package static let kind = "webhook"
  package static let abstract = "Receive webhooks: events that other services send by HTTP."
  package static let discussion = """
    A mapping file defines the event for each kind of delivery; see livehost-source(8). A sender \
    gets the status 200 once its events are acknowledged, and 503 if it should send them again. \
    Only this machine can reach the address, unless --allow-remote is given. Exits with 0 on \
    Ctrl-C, with 69 if the daemon is unreachable for a minute, and with 78 if the mapping is \
    invalid.

    JSON: one line per report: state and gap, and progress every second.
    """

  @Option(
    help: ArgumentHelp("Address to listen on, such as 127.0.0.1:8090.", valueName: "host:port"))
  package var listen: String
  @Option(
    help: ArgumentHelp(
      "Mapping file, or one of the included mappings: buy-me-a-coffee, ko-fi, owncast, patreon, "
        + "streamelements or streamlabs.", valueName: "file"),
    completion: .file())
  package var mapping: String
  @OptionGroup package var sender: SenderOptions

  package init() {}
}

/// The arguments of the source that reads chats from Social Stream Ninja.
package struct SocialStreamArguments: SourceArguments {
  package static let kind = "social-stream"
  package static let abstract = "Read the chats that Social Stream Ninja collects."
  package static let discussion = """
    The session is in the address of the program's dock. In its settings, under Mechanics, 'Enable \
    remote API control' and 'Send chat messages to API server' must be on. The host can write in \
    all chats and block people; Social Stream Ninja does not confirm either. Exits with 0 on \
    Ctrl-C, and with 69 if the daemon is unreachable for a minute.

    JSON: one line per report: state and gap, and progress every second.
    """

  @Argument(help: "Session to read.") package var session: String
  @Option(help: ArgumentHelp("Server to use instead of io.socialstream.ninja.", valueName: "url"))
  package var server: String?
  @OptionGroup package var acts: ActOptions

  package init() {}
}
