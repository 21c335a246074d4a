import ArgumentParser

/// The command line as the parser sees it; it takes no options of its own, so that each verb owns all
/// that it is given.
struct Livehostctl: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "livehostctl",
    abstract: "Show and steer the rooms of livehostd.",
    usage: "livehostctl [<options>] [<verb>] [<arguments>]",
    discussion: """
      Without a verb, 'status' is meant. Every verb takes these options, in any
      position:
        --socket <path>  the daemon's control socket or the directory it is in;
                         else LIVEHOST_SOCKET, else $XDG_RUNTIME_DIR/livehost or
                         /tmp/livehost-UID, else /run/livehost
        --json=<mode>    off, short or pretty
        -j               as --json=pretty on a terminal, --json=short otherwise
        --no-pager       never page the output

      Exit codes: 0 done; 1 failed; 64 usage; 65 bad input data; 69 daemon not
      reachable; 77 not permitted; 78 configuration or scenario file;
      99 thresholds not met; 130 interrupted.
      """,
    version: "livehostctl \(programVersion)",
    subcommands: [
      StatusVerb.self, RoomsVerb.self, OpenVerb.self, CloseVerb.self, ShowVerb.self, WhyVerb.self,
      HangsVerb.self, JournalVerb.self, WatchVerb.self, TopVerb.self, SendVerb.self, SetVerb.self,
      AdmitVerb.self, CapacityVerb.self, ScheduleVerb.self, ChatVerb.self, IngestVerb.self,
      RecordVerb.self, ReplayVerb.self, AnalyzeVerb.self, TasksVerb.self, CancelVerb.self,
      LogLevelVerb.self, ReloadVerb.self, MetricsVerb.self, DemoVerb.self, SimulateVerb.self,
      CompareVerb.self,
    ],
    helpNames: [.short, .long])

  static var verbNames: [String] {
    // A key path through the metatype crashes the compiler (Swift 6.3.1).
    configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"]
  }
}

/// Version of this program.
package let programVersion = "0.1.0"

/// One thing that the program does.
protocol Verb: ParsableCommand {
  var global: GlobalOptions { get }
  /// - Throws: ``Failure`` or ``OutputClosed``; `CancellationError` counts as interrupted.
  func run(_ context: Context) async throws
}

extension Verb {
  // The parser's own way to run a command knows neither the context nor the exit codes.
  mutating func run() throws {}
}
