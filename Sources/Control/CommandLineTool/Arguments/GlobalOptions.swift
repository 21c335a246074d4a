import ArgumentParser

/// Options that every verb takes.
struct GlobalOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      Path of the daemon's control socket, or of the directory it is in. Default: $LIVEHOST_SOCKET, \
      then $XDG_RUNTIME_DIR/livehost or /tmp/livehost-UID, then /run/livehost.
      """, valueName: "path"),
    completion: .file())
  var socket: String?

  @Flag(help: "Talk to the gateway of a cluster: like --socket=/run/livehost-gateway.")
  var gateway = false

  @Option(
    help: ArgumentHelp(
      "Print JSON: off, short (one line) or pretty. Takes its value after '=' only.",
      valueName: "mode"))
  var json: JSONMode?

  @Flag(name: .short, help: "Like --json=pretty on a terminal, otherwise like --json=short.")
  var j = false

  @Flag(
    name: .customLong("no-pager"),
    help: "Never use a pager, even if the output is taller than the terminal.")
  var noPager = false

  func validate() throws {
    if j, json != nil { throw ValidationError("-j and --json exclude each other") }
    if gateway, socket != nil { throw ValidationError("--gateway and --socket exclude each other") }
    if socket == "" { throw ValidationError("--socket is empty") }
  }

  func mode(isTerminal: Bool) -> JSONMode { j ? (isTerminal ? .pretty : .short) : json ?? .off }
}
