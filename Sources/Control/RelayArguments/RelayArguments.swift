package import ArgumentParser

/// What a relay is told: parsed by `livehostctl relay`, which passes it on, and by `livehost-gateway relay`, which runs it.
package struct RelayArguments: ParsableArguments {
  @Option(help: ArgumentHelp("Where to listen: a path or HOST:PORT.", valueName: "socket"))
  package var listen: String
  @Option(
    help: ArgumentHelp(
      "Control socket of a daemon, or HOST:PORT of a relay that listens there; default: the daemon of this machine.",
      valueName: "socket"))
  package var from: String?
  @Option(
    help: ArgumentHelp("How many monitors may run at once: 1 to 10000.", valueName: "count"))
  package var viewers = 1000
  @Option(
    help: ArgumentHelp(
      "States of a room per second that the daemon is asked for, 0.1 to 60; default: every frame.",
      valueName: "number"))
  package var rate: Double?
  @Option(help: ArgumentHelp("PEM file of the own certificate, for TLS.", valueName: "file"))
  package var certificate: String?
  @Option(help: ArgumentHelp("PEM file of its private key.", valueName: "file"))
  package var key: String?
  @Option(
    help: ArgumentHelp(
      "PEM file of the authorities that the other end's certificate must come from.",
      valueName: "file"))
  package var ca: String?
  @Flag(help: "Let those who come by TLS change rooms, too.") package var acting = false

  package init() {}

  package func validate() throws {
    guard (1...10_000).contains(viewers) else {
      throw ValidationError("--viewers is from 1 to 10000")
    }
    if let rate, !(0.1...60).contains(rate) {
      throw ValidationError("--rate is from 0.1 to 60")
    }
  }

  /// The options but `--from`, as they would be written.
  package var options: [String] {
    let values = [
      ("--listen", listen), ("--viewers", "\(viewers)"), ("--rate", rate.map { "\($0)" }),
      ("--certificate", certificate), ("--key", key), ("--ca", ca),
    ]
    return values.flatMap { name, value in value.map { [name, $0] } ?? [] }
      + (acting ? ["--acting"] : [])
  }
}
