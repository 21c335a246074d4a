import ArgumentParser

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
  @Option(help: ArgumentHelp("Where to listen: a path or HOST:PORT.", valueName: "socket"))
  var listen: String
  @Option(
    help: ArgumentHelp(
      "Control socket, or HOST:PORT of a relay; default: this daemon.", valueName: "socket"))
  var from: String?
  @Option(
    help: ArgumentHelp("How many monitors may run at once; default: 1000.", valueName: "count"))
  var viewers: Int?
  @Option(
    help: ArgumentHelp(
      "States of a room per second that the daemon is asked for; default: every frame.",
      valueName: "number"))
  var rate: Double?
  @Option(help: ArgumentHelp("PEM file of the own certificate, for TLS.", valueName: "file"))
  var certificate: String?
  @Option(help: ArgumentHelp("PEM file of its private key.", valueName: "file"))
  var key: String?
  @Option(
    help: ArgumentHelp(
      "PEM file of the authorities that the other end's certificate must come from.",
      valueName: "file"))
  var ca: String?
  @Flag(help: "Let those who come by TLS change rooms, too.") var acting = false

  func run(_ context: Context) async throws {
    let origin = try from ?? context.sockets(\.control).control
    var words = ["relay", "--listen", listen, "--from", origin]
    let options = [
      ("--viewers", viewers.map { "\($0)" }), ("--rate", rate.map { "\($0)" }),
      ("--certificate", certificate), ("--key", key), ("--ca", ca),
    ]
    for case (let name, let value?) in options { words += [name, value] }
    if acting { words.append("--acting") }
    throw context.become("livehost-gateway", of: "livehost-gateway", words)
  }
}
