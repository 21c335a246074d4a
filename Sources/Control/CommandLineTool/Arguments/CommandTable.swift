import ArgumentParser
import JSON

/// The verbs and options of the program, read from the parser's own declarations.
enum CommandTable {
  /// The inner verbs of each verb; empty for one that does something itself.
  static let verbs: [String: [String]] = {
    func names(_ command: any ParsableCommand.Type) -> [(String, any ParsableCommand.Type)] {
      // A key path through the metatype crashes the compiler (Swift 6.3.1).
      command.configuration.subcommands.compactMap { inner in
        inner.configuration.commandName.map { ($0, inner) }
      }
    }
    var verbs = ["help": [String]()]
    for (name, command) in names(Livehostctl.self) { verbs[name] = names(command).map(\.0) }
    return verbs
  }()

  /// Verbs that may be followed by a room, and the inner verb that this stands for.
  static let roomVerbs = ["activity": "list"]

  /// Options that take a value, which may be the next argument; whether each may be repeated. Only the
  /// parser's description of itself says so, which takes some milliseconds to make and to read.
  static let valueOptions: [String: Bool] = {
    var options: [String: Bool] = [:]
    func visit(_ command: JSONValue) {
      for argument in command["arguments"]?.arrayValue ?? [] where argument["kind"] == "option" {
        for name in argument["names"]?.arrayValue ?? [] {
          let dashes = name["kind"] == "short" ? "-" : "--"
          options[dashes + (name["name"]?.stringValue ?? "")] = argument["isRepeating"] == true
        }
      }
      for inner in command["subcommands"]?.arrayValue ?? [] { visit(inner) }
    }
    if let root = try? JSONValue(parsing: Livehostctl._dumpHelp())["command"] { visit(root) }
    return options
  }()
}
