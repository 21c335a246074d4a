import ArgumentParser
import LiveEvents
import ProgramArguments

struct ConnectVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "connect",
    abstract: "Run a live source in the foreground, without root.",
    discussion: """
      Starts livehost-source, which connects to a platform and sends the platform's events to the \
      daemon until Ctrl-C. For a source that starts with the machine, see livehost-source(8).
      """,
    subcommands: [
      ConnectKindVerb<TwitchArguments>.self, ConnectKindVerb<EventSubArguments>.self,
      ConnectKindVerb<ObsArguments>.self, ConnectKindVerb<NginxRTMPArguments>.self,
      ConnectKindVerb<MediaMTXArguments>.self, ConnectKindVerb<OwncastArguments>.self,
      ConnectKindVerb<WebhookArguments>.self, ConnectKindVerb<SocialStreamArguments>.self,
    ])

  // The options are declared here so that users can also write them before the inner verb.
  @OptionGroup(title: "Global options") var global: GlobalOptions
}

struct ConnectKindVerb<Arguments: SourceArguments>: Verb {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: Arguments.kind, abstract: Arguments.abstract, discussion: Arguments.discussion)
  }

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @OptionGroup var arguments: Arguments
  @Option(help: ArgumentHelp("Room that receives all events.", valueName: "room"))
  var room: RoomName?

  func run(_ context: Context) async throws {
    let sockets = try context.sockets(\.ingest)
    var words = [Arguments.kind, "--ingest", sockets.ingest, "--control", sockets.control]
    if context.wantsJSON { words.append("--json") }
    throw context.replaceProcess(
      with: "livehost-source", of: "livehost-sources", words + context.ownArguments)
  }
}
