import Suggestions

/// One key of a program's configuration file: its name, what it means, and how it is read.
///
/// A program declares its keys in one table, ``all``. The reading of the file, the check for unknown keys, the
/// commented default file and the manual come from it.
package protocol FileKey: Sendable {
  /// What the file configures.
  associatedtype Target

  static var all: [Self] { get }
  /// The program whose option `--print-default-config` shows all keys.
  static var program: String { get }

  /// Path with dots, such as `rooms.maximum`.
  var path: String { get }
  /// What it means, in a sentence.
  var meaning: String { get }
  /// Its default, as it would be written.
  var standard: String { get }
  var read: @Sendable (YAMLNode, inout Target) throws(ConfigurationError) -> Void { get }
}

extension FileKey {
  /// Reads a mapping of keys, and those within it, over the present values.
  package static func read(
    _ node: YAMLNode, into target: inout Target
  ) throws(ConfigurationError) {
    for (_, value) in try YAMLMapping(node, known: nil, example: example(below: node.key)).entries {
      let path = value.key ?? ""
      if let key = all.first(where: { $0.path == path }) {
        try key.read(value, &target)
      } else if all.contains(where: { $0.path.hasPrefix(path + ".") }) {
        try read(value, into: &target)
      } else {
        let nearest = Spelling.nearest(to: path, among: all.map(\.path))
        throw value.keyProblem(
          nearest.map { "unknown key; did you mean '\($0)'?" }
            ?? "unknown key; \(program) --print-default-config shows all keys")
      }
    }
  }

  /// The first of the keys that belong below one, with its default.
  private static func example(below key: String?) -> String? {
    let prefix = key.map { $0 + "." } ?? ""
    guard let example = all.first(where: { $0.path.hasPrefix(prefix) }) else { return nil }
    let name = example.path.dropFirst(prefix.count)
    let written = name.split(separator: ".").joined(separator: ": {")
    return "\(written): \(example.standard)" + (name.contains(".") ? "}" : "")
  }

  /// The default file, in which each key is a comment.
  ///
  /// - Parameter subject: what the file configures, in words.
  package static func commentedDefaults(of subject: String) -> String {
    var lines = ["# Configuration of \(subject). Every key is shown with its default."]
    var group = ""
    for key in all {
      let parts = key.path.split(separator: ".").map(String.init)
      let newGroup = parts.count > 1 ? parts[0] : ""
      lines.append("")
      if newGroup != group, !newGroup.isEmpty { lines.append("#\(newGroup):") }
      group = newGroup
      let indent = newGroup.isEmpty ? "" : "  "
      lines.append("#\(indent)# \(key.meaning)")
      lines.append("#\(indent)\(parts.last ?? ""): \(key.standard)")
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
