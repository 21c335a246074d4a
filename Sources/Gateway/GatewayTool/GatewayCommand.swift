import ArgumentParser
import ControlInterface

/// The command line of `livehost-gateway`.
struct GatewayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "livehost-gateway",
    abstract: "Rooms of livehostd on other machines.",
    discussion: """
      'relay' shows the rooms of one daemon at a second control socket, for any number of viewers. 'run' makes \
      the daemon of this machine a node of a cluster on NATS JetStream, whose rooms survive a machine.

      Exit codes: 0 interrupted; 1 failed; 64 usage; 69 nobody answers; 77 not permitted; \
      78 configuration.
      """,
    version: "livehost-gateway \(livehostVersion)",
    subcommands: [
      RunNodeCommand.self, RelayCommand.self, StatusCommand.self, RoomsCommand.self,
    ], defaultSubcommand: RunNodeCommand.self)
}
