package import ArgumentParser

/// The arguments of a relay. `livehostctl relay` checks the arguments, and passes them unchanged to
/// `livehost-gateway relay`, which parses them again and runs the relay.
package struct RelayArguments: ParsableArguments {
  @Option(help: ArgumentHelp("Socket to listen on: a path or HOST:PORT.", valueName: "socket"))
  package var listen: String
  @Option(
    help: ArgumentHelp(
      "Control socket of a daemon, or HOST:PORT of another relay. Default: this machine's daemon.",
      valueName: "socket"))
  package var from: String?
  @Option(
    help: ArgumentHelp("Maximum number of concurrent monitors: 1 to 10000.", valueName: "count"))
  package var viewers = 1000
  @Option(
    help: ArgumentHelp(
      "Maximum number of states per second and room, from 0.1 to 60. Default: every frame.",
      valueName: "number"))
  package var rate: Double?
  @Option(
    help: ArgumentHelp("PEM file with the certificate of this relay, for TLS.", valueName: "file"))
  package var certificate: String?
  @Option(help: ArgumentHelp("PEM file with the certificate's private key.", valueName: "file"))
  package var key: String?
  @Option(
    help: ArgumentHelp(
      "PEM file with the authorities that may issue certificates of other relays.",
      valueName: "file"))
  package var ca: String?
  @Flag(help: "Allow TLS clients to change rooms. By default they are read-only.")
  package var acting = false

  package init() {}

  package func validate() throws {
    guard (1...10_000).contains(viewers) else {
      throw ValidationError("--viewers must be from 1 to 10000")
    }
    if let rate, !(0.1...60).contains(rate) {
      throw ValidationError("--rate must be from 0.1 to 60")
    }
  }
}
