import ArgumentParser
import LiveEvents

struct ConnectVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "connect",
    abstract: "Run a live source in the foreground, without root.",
    discussion: """
      Starts livehost-source, which connects to a platform and passes what it says to the daemon until \
      Ctrl-C. For a source that starts with the machine see livehost-source(8).
      """,
    subcommands: [
      ConnectTwitchVerb.self, ConnectObsVerb.self, ConnectNginxRTMPVerb.self,
      ConnectMediaMTXVerb.self, ConnectOwncastVerb.self,
    ])

  // So that they may precede the inner verb, like any other.
  @OptionGroup(title: "Global options") var global: GlobalOptions
}

struct ConnectTwitchVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "twitch",
    abstract: "Read chats of Twitch, anonymously or with a token.",
    discussion: """
      Each channel is a room, unless --room names one for all. Ends with 0 on Ctrl-C, 69 if the daemon is \
      gone for a minute, 77 if Twitch refuses the token.

      JSON: one line per report: state and gap of a channel, and each second progress.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Channels to read.") var channels: [String]
  @Option(help: ArgumentHelp("Chat server instead of Twitch's.", valueName: "host:port"))
  var server: String?
  @Flag(help: "Do not encrypt the connection.") var noTls = false
  @Option(
    help: ArgumentHelp(
      "PEM file of the authorities to trust instead of the system's.", valueName: "file"),
    completion: .file())
  var ca: String?
  @Option(
    help: ArgumentHelp("File with an OAuth token (scope chat:read).", valueName: "file"),
    completion: .file())
  var tokenFile: String?
  @Option(help: ArgumentHelp("Room of everything that is read.", valueName: "room"))
  var room: RoomName?

  func run(_ context: Context) async throws {
    var arguments = ["twitch"]
    func add(_ name: String, _ value: String?) {
      if let value { arguments += [name, value] }
    }
    add("--server", server)
    if noTls { arguments.append("--no-tls") }
    add("--ca", ca)
    add("--token-file", tokenFile)
    add("--room", room?.description)
    let sockets = try context.sockets(\.ingest)
    arguments += ["--ingest", sockets.ingest]
    if context.wantsJSON { arguments.append("--json") }
    throw context.become("livehost-source", of: "livehost-sources", arguments + ["--"] + channels)
  }
}

struct ConnectObsVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "obs",
    abstract: "Watch OBS, and do in it what the screen asks for.",
    discussion: """
      Needs OBS's WebSocket server (Tools, WebSocket Server Settings). An input of OBS is a slider and the \
      switch 'mute INPUT', a scene the switch 'scene SCENE'; the switch 'stream' starts and stops the stream. \
      Ends with 0 on Ctrl-C, 69 if the daemon is gone for a minute, 77 if OBS refuses the password.

      JSON: one line per report: state and gap, and each second progress.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: ArgumentHelp("OBS's server; default: 127.0.0.1:4455.", valueName: "host:port"))
  var server: String?
  @Option(
    help: ArgumentHelp("File with the server's password.", valueName: "file"),
    completion: .file())
  var passwordFile: String?
  @Option(help: ArgumentHelp("Room of everything that OBS says.", valueName: "room"))
  var room: RoomName?

  func run(_ context: Context) async throws {
    var arguments = ["obs"]
    if let passwordFile { arguments += ["--password-file", passwordFile] }
    if let room { arguments += ["--room", room.description] }
    let sockets = try context.sockets(\.ingest)
    arguments += ["--ingest", sockets.ingest, "--control", sockets.control]
    if context.wantsJSON { arguments.append("--json") }
    throw context.become(
      "livehost-source", of: "livehost-sources", arguments + ["--"] + [server].compactMap { $0 })
  }
}

/// What the sources of ingest servers take.
struct ServerArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The stream to watch; default: the first one that is live.", valueName: "name"))
  var stream: String?
  @Option(help: ArgumentHelp("Room of everything that the server says.", valueName: "room"))
  var room: RoomName?

  func become(_ kind: String, _ url: String, _ context: Context) throws -> Never {
    var arguments = [kind]
    if let stream { arguments += ["--stream", stream] }
    if let room { arguments += ["--room", room.description] }
    arguments += ["--ingest", try context.sockets(\.ingest).ingest]
    if context.wantsJSON { arguments.append("--json") }
    throw context.become("livehost-source", of: "livehost-sources", arguments + ["--", url])
  }
}

struct ConnectNginxRTMPVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "nginx-rtmp", abstract: "Watch a stream on an nginx with the RTMP module.",
    discussion: """
      Asks for the page of rtmp_stat each second: whether the stream is live, bit rate, viewers. Ends with 0 \
      on Ctrl-C, 69 if the daemon is gone for a minute.

      JSON: one line per report: state and gap, and each second progress.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: ArgumentHelp("The page of rtmp_stat.", valueName: "url")) var url: String
  @OptionGroup var server: ServerArguments

  func run(_ context: Context) async throws { try server.become("nginx-rtmp", url, context) }
}

struct ConnectMediaMTXVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "mediamtx", abstract: "Watch a stream on a MediaMTX.",
    discussion: """
      Asks its API each second: whether the stream is live, bit rate, viewers, and its delay if it comes \
      over SRT. Ends with 0 on Ctrl-C, 69 if the daemon is gone for a minute.

      JSON: one line per report: state and gap, and each second progress.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: ArgumentHelp("The API, such as http://127.0.0.1:9997.", valueName: "url"))
  var url: String
  @OptionGroup var server: ServerArguments

  func run(_ context: Context) async throws { try server.become("mediamtx", url, context) }
}

struct ConnectOwncastVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "owncast", abstract: "Watch the stream of an Owncast.",
    discussion: """
      Asks for its status each second: whether the stream is live, and viewers; not its chat. Ends with 0 on \
      Ctrl-C, 69 if the daemon is gone for a minute.

      JSON: one line per report: state and gap, and each second progress.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: ArgumentHelp("The server, such as https://stream.example.", valueName: "url"))
  var url: String
  @OptionGroup var server: ServerArguments

  func run(_ context: Context) async throws { try server.become("owncast", url, context) }
}
