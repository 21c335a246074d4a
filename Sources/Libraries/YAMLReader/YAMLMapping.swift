import Wording

/// The keys and values of a YAML mapping, in the order of the file.
package struct YAMLMapping {
  /// The mapping as a node.
  package let node: YAMLNode
  package let entries: [(name: String, value: YAMLNode)]

  /// Reads a mapping with the keys `known`, or with any keys if that is `nil`. `example` is part of
  /// the error message if the value is not a mapping.
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

  /// The value of a key, or `nil` if the key is absent. O(number of keys).
  package subscript(name: String) -> YAMLNode? { entries.first { $0.name == name }?.value }

  /// - Throws: An error if the key is absent.
  package func required(_ name: String) throws(ConfigurationError) -> YAMLNode {
    guard let value = self[name] else { throw problem(at: nil, "needs '\(name)'") }
    return value
  }

  /// Returns an error about the whole mapping, with the position of one of its keys if the mapping
  /// contains that key.
  package func problem(at name: String?, _ message: String) -> ConfigurationError {
    (name.flatMap { self[$0] } ?? node).problem(message)
  }

  /// Throws an error if any of `names` is present.
  package func refuse(_ names: [String], because reason: String) throws(ConfigurationError) {
    for name in names where self[name] != nil { throw problem(at: name, reason) }
  }
}
