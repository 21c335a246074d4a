import ArgumentParser
import ControlInterface
import LiveEvents
import LiveSources
import ObsStudio
import RateLimiting
import TwitchChat
import YAMLReader

/// The command line of `livehost-source`.
struct SourceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "livehost-source",
    abstract: "Read a live source and pass its events to livehostd.",
    discussion: """
      Connects to a platform and writes what it says to the daemon's ingest socket, until it is \
      interrupted. As a service it is livehost-source@NAME.service, configured by \
      /etc/livehost/sources/NAME.yaml; 'livehostctl connect' runs it in the foreground.

      Exit codes: 0 interrupted; 1 failed; 64 usage; 69 livehostd is gone for good; 77 credentials \
      or permission refused; 78 configuration.
      """,
    version: "livehost-source \(livehostVersion)",
    subcommands: [
      RunCommand.self, TwitchCommand.self, ObsCommand.self, NginxRTMPCommand.self,
      MediaMTXCommand.self, OwncastCommand.self,
    ],
    defaultSubcommand: RunCommand.self)
}

/// Runs the source of a configuration file.
struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Run the source of a configuration file (the default).")

  @Option(help: ArgumentHelp("Configuration file of the source.", valueName: "file"))
  var config: String?
  @Option(
    help: ArgumentHelp(
      "Name of the source; default: that of the configuration file.", valueName: "name"))
  var name: String?
  @Flag(help: "Check the configuration and exit: 0 if it is fine, 78 if not.")
  var checkConfig = false
  @Flag(help: "Print the commented default configuration and exit.")
  var printDefaultConfig = false
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if config == nil, !printDefaultConfig {
      throw ValidationError("name a configuration file with --config, or a kind of source")
    }
  }

  /// The source of the configuration file.
  func plan() throws(ConfigurationError) -> SourcePlan {
    let file = config ?? ""
    let base = file.split(separator: "/").last.map(String.init) ?? "source"
    let stem = base.hasSuffix(".yaml") ? String(base.dropLast(5)) : base
    return SourcePlan(
      name: name ?? stem, configuration: try SourceConfiguration(file: file), json: output.json)
  }
}

/// How progress is told.
struct OutputOptions: ParsableArguments {
  @Flag(name: .customLong("json"), help: "Print one JSON object per report on standard output.")
  var json = false
}

/// A source that is to be run.
struct SourcePlan {
  var name: String
  var configuration: SourceConfiguration
  var json: Bool
}

/// A command that runs a source without a configuration file.
protocol ForegroundCommand: ParsableCommand {
  func plan() -> SourcePlan
}

/// What every source in the foreground takes.
struct ForegroundOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The daemon's ingest socket.", valueName: "path"))
  var ingest = "/run/livehost/ingest"
  @Option(help: ArgumentHelp("The daemon's control socket.", valueName: "path"))
  var control = "/run/livehost/io.livehost.Control"
  @Option(help: ArgumentHelp("The room of everything that the source tells.", valueName: "room"))
  var room: String?
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if let room, RoomName(room) == nil {
      throw ValidationError("'\(room)' is not a room name: [a-z0-9_][a-z0-9_.-]{0,63}")
    }
  }

  func plan(_ name: String, _ kind: SourceConfiguration.Kind) -> SourcePlan {
    var configuration = SourceConfiguration()
    configuration.kind = kind
    configuration.ingest = ingest
    configuration.control = control
    configuration.room = room.flatMap { RoomName($0) }
    configuration.patience = .seconds(60)
    return SourcePlan(name: name, configuration: configuration, json: output.json)
  }
}

struct TwitchCommand: ForegroundCommand {
  static let configuration = CommandConfiguration(
    commandName: "twitch", abstract: "Read chats of Twitch, anonymously or with a token.")

  @OptionGroup var common: ForegroundOptions
  @Argument(help: "Channels to read.") var channels: [String]
  @Option(help: ArgumentHelp("The chat server.", valueName: "host:port"))
  var server = "irc.chat.twitch.tv"
  @Flag(help: "Do not encrypt the connection.") var noTls = false
  @Option(
    help: ArgumentHelp(
      "PEM file of the authorities to trust instead of the system's.", valueName: "file"))
  var ca: String?
  @Option(help: ArgumentHelp("File with an OAuth token (scope chat:read).", valueName: "file"))
  var tokenFile: String?

  func validate() throws {
    guard PeerAddress(server, defaultPort: port) != nil else {
      throw ValidationError("--server is HOST:PORT, not '\(server)'")
    }
    for channel in channels where TwitchSettings.channel(channel) == nil {
      throw ValidationError("'\(channel)' is not a channel: [a-z0-9_]{1,25}")
    }
    if noTls, ca != nil { throw ValidationError("--ca and --no-tls exclude each other") }
    // In the clear everybody on the way could read it.
    if noTls, tokenFile != nil { throw ValidationError("--token-file needs TLS") }
  }

  private var port: Int { noTls ? 6667 : 6697 }

  func plan() -> SourcePlan {
    var names: [String] = []
    for name in channels.compactMap(TwitchSettings.channel) where !names.contains(name) {
      names.append(name)
    }
    var plan = common.plan("twitch-\(names.first ?? "")", .twitch)
    plan.configuration.twitch.channels = names
    if let address = PeerAddress(server, defaultPort: port) {
      plan.configuration.twitch.server = address
    }
    plan.configuration.twitch.usesTLS = !noTls
    plan.configuration.twitch.certificates = ca
    plan.configuration.twitch.tokenFile = tokenFile
    return plan
  }
}

struct ObsCommand: ForegroundCommand {
  static let configuration = CommandConfiguration(
    commandName: "obs", abstract: "Watch OBS, and do in it what the screen asks for.")

  @OptionGroup var common: ForegroundOptions
  @Argument(help: ArgumentHelp("OBS's WebSocket server.", valueName: "host:port"))
  var server = ObsSettings.address.description
  @Option(help: ArgumentHelp("File with the server's password.", valueName: "file"))
  var passwordFile: String?

  func validate() throws {
    guard PeerAddress(server, defaultPort: ObsSettings.address.port) != nil else {
      throw ValidationError("OBS's server is HOST:PORT, not '\(server)'")
    }
  }

  func plan() -> SourcePlan {
    var plan = common.plan("obs", .obs)
    if let address = PeerAddress(server, defaultPort: ObsSettings.address.port) {
      plan.configuration.obs.server = address
    }
    plan.configuration.obs.passwordFile = passwordFile
    return plan
  }
}

/// What the sources of ingest servers take.
struct ServerArguments: ParsableArguments {
  @Argument(help: ArgumentHelp("Where the server tells its streams.", valueName: "url"))
  var url: String
  @Option(
    help: ArgumentHelp(
      "The stream to watch; default: the first one that is live.", valueName: "name"))
  var stream: String?

  func validate() throws {
    guard HTTPAddress(url) != nil else {
      throw ValidationError("the address is http://HOST[:PORT]/PATH, not '\(url)'")
    }
  }

  func plan(_ common: ForegroundOptions, _ kind: SourceConfiguration.Kind) -> SourcePlan {
    var plan = common.plan(kind.rawValue, kind)
    plan.configuration.server.address = HTTPAddress(url)
    plan.configuration.server.stream = stream
    return plan
  }
}

struct NginxRTMPCommand: ForegroundCommand {
  static let configuration = CommandConfiguration(
    commandName: "nginx-rtmp", abstract: "Watch a stream on an nginx with the RTMP module.")

  @OptionGroup var common: ForegroundOptions
  @OptionGroup var server: ServerArguments

  func plan() -> SourcePlan { server.plan(common, .nginxRTMP) }
}

struct MediaMTXCommand: ForegroundCommand {
  static let configuration = CommandConfiguration(
    commandName: "mediamtx", abstract: "Watch a stream on a MediaMTX.")

  @OptionGroup var common: ForegroundOptions
  @OptionGroup var server: ServerArguments

  func plan() -> SourcePlan { server.plan(common, .mediaMTX) }
}

struct OwncastCommand: ForegroundCommand {
  static let configuration = CommandConfiguration(
    commandName: "owncast", abstract: "Watch the stream of an Owncast.")

  @OptionGroup var common: ForegroundOptions
  @OptionGroup var server: ServerArguments

  func plan() -> SourcePlan { server.plan(common, .owncast) }
}
