import ArgumentParser
import ProgramArguments

struct RelayVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "relay",
    abstract: "Offer the rooms of this daemon on another socket, until Ctrl-C.",
    discussion: """
      Starts livehost-gateway, which opens one monitor per room, however many viewers the other \
      socket has. Sockets are paths, or HOST:PORT for TLS with certificates on both sides; see \
      livehost-gateway(8).

      JSON: none; this verb prints nothing.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @OptionGroup var arguments: RelayArguments

  func run(_ context: Context) async throws {
    let origin =
      arguments.from == nil ? ["--from", try context.sockets(\.control).control] : []
    throw context.replaceProcess(
      with:
        "livehost-gateway", of: "livehost-gateway", ["relay"] + origin + context.ownArguments)
  }
}
