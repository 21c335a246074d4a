import ArgumentParser
import ControlInterface

/// The declaration of the command line for the parser. Parsing is asynchronous because completions
/// call the daemon.
struct Livehostctl: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "livehostctl",
    abstract: "Show and control the rooms of livehostd.",
    usage: "livehostctl [<options>] [<verb>] [<arguments>]",
    discussion: """
      The default verb is 'status'. Options may be given in any position.

      Exit codes: 0 done; 1 failed; 64 usage; 65 bad input data; 69 daemon not reachable; \
      77 not permitted; 78 configuration or scenario file; 99 thresholds not met; 130 interrupted.
      """,
    version: "livehostctl \(livehostVersion)",
    subcommands: [
      StatusVerb.self, RoomsVerb.self, OpenVerb.self, CloseVerb.self, ShowVerb.self, WhyVerb.self,
      HangsVerb.self, JournalVerb.self, WatchVerb.self, TopVerb.self, SendVerb.self, SetVerb.self,
      AdmitVerb.self, CapacityVerb.self, PaceVerb.self, ScheduleVerb.self, TitleVerb.self,
      CategoryVerb.self, MarkVerb.self, ChatVerb.self, ActivityVerb.self, IngestVerb.self,
      ConnectVerb.self, LoginVerb.self, SourcesVerb.self, WebVerb.self, RelayVerb.self,
      RecordVerb.self, ReplayVerb.self, AnalyzeVerb.self, TasksVerb.self, CancelVerb.self,
      LogLevelVerb.self, ReloadVerb.self, MetricsVerb.self, ClusterVerb.self, DemoVerb.self,
      SimulateVerb.self,
      SweepVerb.self, CompareVerb.self, CalibrateVerb.self, CompletionVerb.self,
    ],
    helpNames: [.short, .long])

  // Verbs inherit these options, so that users can also write the options before the verb.
  @OptionGroup(title: "Global options") var global: GlobalOptions
}

protocol Verb: AsyncParsableCommand {
  var global: GlobalOptions { get }
  /// Throws ``Failure`` or ``OutputClosed``; a `CancellationError` is reported as an interruption
  /// by the user.
  func run(_ context: Context) async throws
}

extension Verb {
  // The parser's own entry point is not used, because it knows neither the context nor this
  // program's exit codes.
  mutating func run() async throws {}
}
