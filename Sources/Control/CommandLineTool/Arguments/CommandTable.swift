import ArgumentParser
import JSON

/// The verbs and options of the program, read from the parser's own declarations.
enum CommandTable {
  /// The verbs inside each group; empty for a verb that is not a group.
  static let verbs: [String: [String]] = {
    func names(_ command: any ParsableCommand.Type) -> [(String, any ParsableCommand.Type)] {
      // A closure replaces a key path, because a key path through the metatype crashes the compiler
      // (Swift 6.3.1).
      command.configuration.subcommands.compactMap { inner in
        inner.configuration.commandName.map { ($0, inner) }
      }
    }
    var verbs = ["help": [String]()]
    for (name, command) in names(Livehostctl.self) { verbs[name] = names(command).map(\.0) }
    return verbs
  }()

  /// The default inner verbs of groups, which users may leave out before a room.
  static let roomVerbs = ["activity": "list"]

  /// For each option that takes a value, whether it may be repeated. Computed on demand: only the
  /// parser's dump of its declarations contains this information, and producing and parsing the
  /// dump takes some milliseconds.
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
