import Suggestions

/// The keys and values of a YAML mapping, in the order of the file.
package struct YAMLMapping {
  /// The mapping as a value.
  package let node: YAMLNode
  package let entries: [(name: String, value: YAMLNode)]

  /// - Parameters:
  ///   - known: the keys that are allowed; `nil` allows any.
  ///   - example: what could be written, for the message about something else than a mapping.
  package init(
    _ node: YAMLNode, known: [String]?, example: String? = nil
  ) throws(ConfigurationError) {
    guard case .mapping(let entries) = node.content else {
      throw node.problem("expected keys and values" + (example.map { ", such as \($0)" } ?? ""))
    }
    var seen: Set<String> = []
    for (name, value) in entries {
      if let known, !known.contains(name) {
        throw value.keyProblem("unknown key" + Spelling.hint(for: name, among: known))
      }
      guard seen.insert(name).inserted else { throw value.keyProblem(YAMLSyntax.duplicate) }
    }
    self.node = node
    self.entries = entries
  }

  package var names: [String] { entries.map(\.name) }

  /// The value of a key; `nil` if the key is absent. O(number of keys).
  package subscript(name: String) -> YAMLNode? { entries.first { $0.name == name }?.value }

  /// - Throws: if the key is absent.
  package func required(_ name: String) throws(ConfigurationError) -> YAMLNode {
    guard let value = self[name] else { throw problem(at: nil, "needs '\(name)'") }
    return value
  }

  /// What is wrong with the mapping as a whole, reported at one of its keys if that is present.
  package func problem(at name: String?, _ message: String) -> ConfigurationError {
    (name.flatMap { self[$0] } ?? node).problem(message)
  }

  /// Refuses each of `names` that is present.
  package func refuse(_ names: [String], because reason: String) throws(ConfigurationError) {
    for name in names where self[name] != nil { throw problem(at: name, reason) }
  }
}
