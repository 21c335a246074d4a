import ArgumentParser
import ControlInterface

struct GatewayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "livehost-gateway",
    abstract: "Share the rooms of livehostd between machines.",
    discussion: """
      'relay' shows the rooms of one daemon on a second control socket, to any number of viewers. \
      'run' makes the daemon of this machine a node of a cluster on NATS JetStream. The rooms of a \
      cluster survive the loss of a machine.

      Exit codes: 0 interrupted; 1 failed; 64 usage; 69 not reachable; 77 not permitted; \
      78 configuration.
      """,
    version: "livehost-gateway \(livehostVersion)",
    subcommands: [
      RunNodeCommand.self, RelayCommand.self, StatusCommand.self, RoomsCommand.self,
    ], defaultSubcommand: RunNodeCommand.self)
}
