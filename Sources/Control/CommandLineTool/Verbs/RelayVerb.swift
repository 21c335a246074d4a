import ArgumentParser
import RelayArguments

struct RelayVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "relay",
    abstract: "Show the rooms of this daemon at another socket, until Ctrl-C.",
    discussion: """
      Starts livehost-gateway, which watches each room once, whatever is watched at the other socket. Sockets \
      are paths, or HOST:PORT for TLS with certificates on both sides; see livehost-gateway(8).

      JSON: none; it prints nothing.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @OptionGroup var arguments: RelayArguments

  func run(_ context: Context) async throws {
    let origin = try arguments.from ?? context.sockets(\.control).control
    throw context.become(
      "livehost-gateway", of: "livehost-gateway",
      ["relay", "--from", origin] + arguments.options)
  }
}
