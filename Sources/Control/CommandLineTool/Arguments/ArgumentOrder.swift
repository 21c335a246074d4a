import TerminalScreen
import Wording

/// Rearranges arguments into the order that the parser needs: first the verb, then its options,
/// then all other arguments. Users may write them in any order.
package enum ArgumentOrder {
  /// The option that accepts its value only after `=`.
  static let equalsOnly = "--json"
  static let defaultVerb = "status"

  /// Returns the arguments in the parser's order. Throws ``Failure`` for users' mistakes that the
  /// parser would not notice or would misinterpret.
  package static func arranged(_ arguments: [String]) throws(Failure) -> [String] {
    // The arguments of a completion request have a fixed order, which must not change.
    if arguments.first == "---completion" { return arguments }
    let words = try ArrangedArguments(arguments)
    guard let verb = words.verbs.first else {
      let asksForProgram = ["--help", "-h", "--version", "--experimental-dump-help"]
      let rest = words.options + words.terminatedPositionals
      return rest.contains(where: asksForProgram.contains) ? rest : [defaultVerb] + rest
    }
    try check(verb == "help" ? words.positionals : words.verbs)
    return words.verbs + words.options + words.terminatedPositionals
  }

  /// Returns the JSON mode that the arguments request. The JSON options are found even if other
  /// arguments are invalid, so that the error can be printed as JSON.
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

  private static func check(_ verbs: [String]) throws(Failure) {
    var known = CommandTable.verbs
    var path = ["livehostctl"]
    for verb in verbs {
      guard !known.isEmpty else { return }
      guard let inner = known[verb] else { throw unknown(verb, among: known.keys.sorted(), path) }
      known = Dictionary(inner.map { ($0, []) }) { first, _ in first }
      path.append(verb)
    }
  }

  private static func unknown(
    _ verb: String, among verbs: [String], _ path: [String]
  ) -> Failure {
    var message = "there is no verb '\(TerminalText.sanitized(verb))'"
    if let near = Spelling.nearest(to: verb, among: verbs) {
      message += "; did you mean '\(near)'?"
    }
    return Failure(.usage, message + "\nSee '\(path.joined(separator: " ")) --help'.")
  }
}

/// The arguments of a command line, sorted by kind.
package struct ArrangedArguments {
  /// The verb, followed by the inner verb if the verb is a group.
  var verbs: [String] = []
  var options: [String] = []
  var positionals: [String] = []
  private var isTerminated = false

  package init(_ arguments: [String]) throws(Failure) {
    var seen: Set<String> = []
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument == "--" {
        positionals += rest
        isTerminated = true
        break
      }
      guard argument.hasPrefix("-"), argument != "-", !Self.isNegative(argument) else {
        if verbs.isEmpty || verbs.count == 1 && CommandTable.verbs[verbs[0]]?.isEmpty == false {
          verbs.append(argument)
        } else {
          positionals.append(argument)
        }
        continue
      }
      let name = String(argument.prefix { $0 != "=" })
      let hasValue = name.count < argument.count
      if name == ArgumentOrder.equalsOnly, !hasValue {
        throw Failure(.usage, "--json takes its value after '=', as in --json=short")
      }
      guard let isRepeatable = Self.takesValue(name) else {
        options.append(argument)
        continue
      }
      guard seen.insert(name).inserted || isRepeatable else {
        throw Failure(.usage, "\(name) is given twice")
      }
      if !hasValue, let value = rest.popFirst() {
        // The parser would read a negative number after a space as another option.
        options += Self.isNegative(value) ? ["\(name)=\(value)"] : [name, value]
      } else {
        options.append(argument)
      }
    }
    nameInnerVerb()
  }

  /// Inserts the default inner verb of a group if the user left it out: `activity ROOM` means
  /// `activity list ROOM`.
  private mutating func nameInnerVerb() {
    guard verbs.count == 2, positionals.isEmpty, let inner = CommandTable.roomVerbs[verbs[0]],
      CommandTable.verbs[verbs[0]]?.contains(verbs[1]) == false
    else { return }
    positionals = [verbs[1]]
    verbs[1] = inner
  }

  /// The positional arguments, preceded by `--` if one of them looks like an option.
  var terminatedPositionals: [String] {
    isTerminated || positionals.contains { $0.hasPrefix("-") && $0 != "-" }
      ? ["--"] + positionals : positionals
  }

  /// The arguments after the verb, without ``GlobalOptions``, for passing on to another program.
  package var withoutGlobalOptions: [String] {
    var own: [String] = []
    var rest = options[...]
    // The value of an option never looks like an option; the parser has checked this.
    while let word = rest.popFirst() {
      switch word.prefix(while: { $0 != "=" }) {
      case "--socket": if word == "--socket" { _ = rest.popFirst() }
      case "--json", "-j", "--gateway", "--no-pager": break
      default: own.append(word)
      }
    }
    return positionals.isEmpty ? own : own + ["--"] + positionals
  }

  /// Returns whether an option that takes a value may be repeated; nil for a flag.
  private static func takesValue(_ option: String) -> Bool? {
    switch option {
    // Building the lookup table is slow, so the most common options are listed here.
    case "-j", "--help", "-h", "--version", "--no-pager": nil
    case "--socket", ArgumentOrder.equalsOnly: false
    default: CommandTable.valueOptions[option]
    }
  }

  private static func isNegative(_ argument: String) -> Bool {
    argument.hasPrefix("-") && argument.dropFirst().first?.isNumber == true
  }
}
