import ArgumentParser

/// Options that every verb takes.
struct GlobalOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The daemon's control socket, or the directory that it is in.", valueName: "path"))
  var socket: String?

  @Option(
    help: ArgumentHelp(
      "Print JSON: off, short (one line) or pretty. Takes its value after '=' only.",
      valueName: "mode"))
  var json: JSONMode?

  @Flag(name: .short, help: "As --json=pretty on a terminal, as --json=short otherwise.")
  var j = false

  @Flag(name: .customLong("no-pager"), help: "Never page output that is taller than the terminal.")
  var noPager = false

  func validate() throws {
    if j, json != nil { throw ValidationError("-j and --json exclude each other") }
    if socket == "" { throw ValidationError("--socket is empty") }
  }

  func mode(isTerminal: Bool) -> JSONMode { j ? (isTerminal ? .pretty : .short) : json ?? .off }
}
