import ArgumentParser

/// The options that every verb accepts.
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
      "Print JSON: off, short (one line) or pretty. The value must follow '='.",
      valueName: "mode"))
  var json: JSONMode?

  @Flag(name: .short, help: "Like --json=pretty on a terminal, otherwise like --json=short.")
  var j = false

  @Flag(
    name: .customLong("no-pager"),
    help: "Never use a pager, even if the output is taller than the terminal.")
  var noPager = false

  func validate() throws {
    if j, json != nil { throw ValidationError("-j and --json cannot be combined; use one") }
    if gateway, socket != nil {
      throw ValidationError("--gateway and --socket cannot be combined; use one")
    }
    if socket == "" { throw ValidationError("the value of --socket is empty; give a path") }
  }

  func mode(isTerminal: Bool) -> JSONMode { j ? (isTerminal ? .pretty : .short) : json ?? .off }
}
