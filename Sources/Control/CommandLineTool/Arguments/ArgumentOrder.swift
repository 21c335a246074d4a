import Suggestions

/// Brings arguments into the order that the parser takes: the verb first, whatever stood before it.
///
/// To find the verb among options in any position one has to know which of them take a value.
package enum ArgumentOrder {
  /// Options of all verbs that take a value, which may be the next argument.
  package static let valueOptions: Set<String> = [
    "--socket", "--count", "--format", "--since", "--room", "--speed", "--livehostd",
    "--device", "--variant", "--seed", "--set", "--threshold", "--trace", "--html",
    "--start", "--rate", "--interval", "--sort", "--sort-views", "--until", "--kind", "--lines",
    "-n", "--directory", "--user", "--words",
  ]
  /// Those of them that may be given more than once.
  package static let repeatedOptions: Set<String> = [
    "--device", "--variant", "--set", "--threshold", "--kind",
  ]
  /// Takes its value after `=` only.
  package static let equalsOnly = "--json"
  package static let defaultVerb = "status"
  /// Verbs whose first argument is a verb of their own.
  package static let groups: Set<String> = ["record", "chat"]

  /// - Throws: ``Failure`` for what the parser would let pass or misread.
  package static func arranged(
    _ arguments: [String], verbs: [String]
  ) throws(Failure) -> [String] {
    var verb: String?
    var innerVerb: String?
    var others: [String] = []
    var seen: Set<String> = []
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument == "--" {
        others.append(argument)
        others += rest
        break
      }
      guard argument.hasPrefix("-"), argument != "-" else {
        if verb == nil {
          verb = argument
        } else if innerVerb == nil, let verb, groups.contains(verb) {
          innerVerb = argument
        } else {
          others.append(argument)
        }
        continue
      }
      others.append(argument)
      let name = String(argument.prefix { $0 != "=" })
      let hasValue = name.count < argument.count
      if name == equalsOnly, !hasValue {
        throw Failure(.usage, "--json takes its value after '=', as in --json=short")
      }
      guard valueOptions.contains(name) || name == equalsOnly else { continue }
      guard seen.insert(name).inserted || repeatedOptions.contains(name) else {
        throw Failure(.usage, "\(name) is given twice")
      }
      if !hasValue, let value = rest.popFirst() { others.append(value) }
    }
    if let verb {
      guard verbs.contains(verb) else { throw unknown(verb, among: verbs) }
      return [verb] + [innerVerb].compactMap(\.self) + others
    }
    let asksForProgram = ["--help", "-h", "--version", "--experimental-dump-help"]
    return others.contains(where: asksForProgram.contains) ? others : [defaultVerb] + others
  }

  /// The JSON mode that arguments ask for, as far as it can be told when they are wrong.
  package static func mode(of arguments: [String], isTerminal: Bool) -> JSONMode {
    var mode = JSONMode.off
    for argument in arguments.prefix(while: { $0 != "--" }) {
      if argument == "-j" { mode = isTerminal ? .pretty : .short }
      if argument.hasPrefix("--json=") {
        mode = JSONMode(rawValue: String(argument.dropFirst(7))) ?? mode
      }
    }
    return mode
  }

  private static func unknown(_ verb: String, among verbs: [String]) -> Failure {
    var message = "there is no verb '\(TerminalText.sanitized(verb))'"
    if let near = Spelling.nearest(to: verb, among: verbs) {
      message += "; did you mean '\(near)'?"
    }
    return Failure(.usage, message + "\nSee 'livehostctl --help'.")
  }
}
