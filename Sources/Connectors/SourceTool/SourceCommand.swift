import ArgumentParser
import ControlInterface
import LiveEvents
import LiveSources
import ProgramArguments
import RateLimiting
import YAMLReader

/// The command line of `livehost-source`.
struct SourceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "livehost-source",
    abstract: "Read a live source and pass its events to livehostd.",
    discussion: """
      Connects to a platform and writes its events to the daemon's ingest socket until it is \
      interrupted. As a service it is livehost-source@NAME.service, configured by \
      /etc/livehost/sources/NAME.yaml; 'livehostctl connect' runs it in the foreground.
      Exit codes: 0 interrupted; 1 failed; 64 usage; 69 livehostd unreachable for too long; \
      77 credentials or permission refused; 78 configuration.
      """,
    version: "livehost-source \(livehostVersion)",
    subcommands: [
      RunSourceCommand.self, LoginCommand.self, KindCommand<TwitchArguments>.self,
      KindCommand<EventSubArguments>.self, KindCommand<ObsArguments>.self,
      KindCommand<NginxRTMPArguments>.self, KindCommand<MediaMTXArguments>.self,
      KindCommand<OwncastArguments>.self, KindCommand<WebhookArguments>.self,
      KindCommand<SocialStreamArguments>.self,
    ],
    defaultSubcommand: RunSourceCommand.self)
}

/// Runs the source that a configuration file describes.
struct RunSourceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Run the source of a configuration file (the default).")

  @Option(help: ArgumentHelp("Configuration file of the source.", valueName: "file"))
  var config: String?
  @Option(
    help: ArgumentHelp(
      "Name of the source; default: the name of the configuration file.", valueName: "name"))
  var name: String?
  @Flag(help: "Check the configuration and exit: 0 if it is valid, 78 if not.")
  var checkConfig = false
  @Flag(help: "Print the commented default configuration and exit.")
  var printDefaultConfig = false
  @OptionGroup var output: OutputOptions

  /// Returns the source that the configuration file describes.
  ///
  /// `validate` does not read the file: an error about a missing file would hide errors about
  /// unknown options.
  func plan() throws -> SourcePlan {
    guard let file = config else {
      throw ValidationError("name a configuration file with --config, or a kind of source")
    }
    let base = file.split(separator: "/").last.map(String.init) ?? "source"
    let stem = base.hasSuffix(".yaml") ? String(base.dropLast(5)) : base
    return SourcePlan(
      name: name ?? stem, configuration: try SourceConfiguration(file: file), json: output.json)
  }
}

/// The options for progress reports.
struct OutputOptions: ParsableArguments {
  @Flag(name: .customLong("json"), help: "Print one JSON object per report on standard output.")
  var json = false
}

/// A source to run.
struct SourcePlan {
  var name: String
  var configuration: SourceConfiguration
  var json: Bool
}

/// A command that runs a source without a configuration file.
protocol ForegroundCommand: ParsableCommand {
  func plan() -> SourcePlan
}

/// Runs a source of one kind, configured by `Arguments`.
struct KindCommand<Arguments: SourceArguments & PlannedArguments>: ForegroundCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(commandName: Arguments.kind, abstract: Arguments.abstract)
  }

  @OptionGroup var arguments: Arguments
  @Option(
    help: ArgumentHelp(
      "The daemon's ingest socket; default: your own daemon's, otherwise the system's.",
      valueName: "path"))
  var ingest: String?
  @Option(
    help: ArgumentHelp(
      "The daemon's control socket; default: the one beside the ingest socket.", valueName: "path"))
  var control: String?
  @Option(help: ArgumentHelp("The room of all events of the source.", valueName: "room"))
  var room: String?
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if let room, RoomName(room) == nil {
      throw ValidationError("'\(room)' is not a room name: [a-z0-9_][a-z0-9_.-]{0,63}")
    }
    var configuration = SourceConfiguration()
    try arguments.configure(&configuration)
  }

  func plan() -> SourcePlan {
    var configuration = SourceConfiguration()
    configuration.kind = SourceConfiguration.Kind(rawValue: Arguments.kind)
    configuration.ingest = ingest
    configuration.control = control
    configuration.room = room.flatMap { RoomName($0) }
    configuration.patience = .seconds(60)
    // `validate` has already checked the arguments.
    try? arguments.configure(&configuration)
    return SourcePlan(name: arguments.name, configuration: configuration, json: output.json)
  }
}
