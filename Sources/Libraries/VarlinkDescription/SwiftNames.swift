/// The Swift names of the members of an interface, read from a `.names` file.
///
/// The file has one entry per line; `#` begins a comment:
///
///     access package                     the access level of the generated declarations
///     namespace ControlInterface         contains the name and the text of the interface
///     errors ControlError                the enumeration of all errors
///     client ControlClient               is extended by the calls; has a property `client`
///     type Chat ChatReport               the Swift name of a named type
///     type User UserReport zero          its numbers, texts and truth values have default values
///     type Phase StreamState LiveEvents  is not generated: the module LiveEvents contains it
///     parameters StartTask TaskRequest   a type for the parameters; may also end with `zero`
///     reply GetStatus StatusReport       a type for the reply; several methods may share one
///     json MonitorRoom room              a member of the reply that stays JSON in Swift
///     by-hand MonitorRoom                its client method is not generated
///
/// Members that are not listed keep their names. Parameters and replies are named after their
/// method.
package struct SwiftNames: Sendable {
  struct Name: Sendable {
    var name: String
    var hasZero = false
    /// The module that already contains the type.
    var module: String?
  }

  var access = "public"
  var namespace = ""
  var errors = ""
  var client = ""
  var types: [String: Name] = [:]
  var parameters: [String: Name] = [:]
  var replies: [String: Name] = [:]
  var passedAsJSON: [String: Set<String>] = [:]
  var callsByHand: Set<String> = []

  package init(parsing text: String) throws(GenerationError) {
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      let words = line.prefix { $0 != "#" }.split(separator: " ").map(String.init)
      switch (words.first, words.count) {
      case (nil, _): continue
      case ("access", 2): access = words[1]
      case ("namespace", 2): namespace = words[1]
      case ("errors", 2): errors = words[1]
      case ("client", 2): client = words[1]
      case ("type", 3): types[words[1]] = Name(name: words[2])
      case ("type", 4) where words[3] == "zero":
        types[words[1]] = Name(name: words[2], hasZero: true)
      case ("type", 4): types[words[1]] = Name(name: words[2], module: words[3])
      case ("parameters", 3...4) where words.count == 3 || words[3] == "zero":
        parameters[words[1]] = Name(name: words[2], hasZero: words.count == 4)
      case ("reply", 3): replies[words[1]] = Name(name: words[2])
      case ("json", 3): passedAsJSON[words[1], default: []].insert(words[2])
      case ("by-hand", 2): callsByHand.insert(words[1])
      default: throw GenerationError("line \(index + 1): not an entry: '\(line)'")
      }
    }
    for (key, value) in [("namespace", namespace), ("errors", errors), ("client", client)]
    where value.isEmpty {
      throw GenerationError("the entry '\(key)' is missing")
    }
  }
}

/// The reason why no Swift source can be generated from a definition.
package struct GenerationError: Error, Equatable, CustomStringConvertible {
  package let description: String
  init(_ description: String) { self.description = description }
}
