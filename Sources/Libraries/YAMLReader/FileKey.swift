import Wording

/// One key of a program's configuration file: its name, its meaning, and how it is read. A program
/// declares its keys in one table, ``all``. The parser of the file, the check for unknown keys, the
/// commented default file and the manual use this table.
package protocol FileKey: Sendable {
  /// The type of the configuration.
  associatedtype Target

  static var all: [Self] { get }
  /// The program whose option `--print-default-config` shows all keys.
  static var program: String { get }

  /// The path with dots, such as `rooms.maximum`.
  var path: String { get }
  /// The meaning, in one sentence.
  var summary: String { get }
  /// The default value, as written in the file.
  var defaultValue: String { get }
  var read: @Sendable (YAMLNode, inout Target) throws(ConfigurationError) -> Void { get }
}

extension FileKey {
  /// Reads a mapping of keys, including nested ones, and overwrites the current values.
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

  /// Returns the first of the keys below a key, with its default value.
  private static func example(below key: String?) -> String? {
    let prefix = key.map { $0 + "." } ?? ""
    guard let example = all.first(where: { $0.path.hasPrefix(prefix) }) else { return nil }
    let name = example.path.dropFirst(prefix.count)
    let written = name.split(separator: ".").joined(separator: ": {")
    return "\(written): \(example.defaultValue)" + (name.contains(".") ? "}" : "")
  }

  /// Returns the default file with each key commented out, and with `subject` as its topic.
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
      lines.append("#\(indent)# \(key.summary)")
      lines.append("#\(indent)\(parts.last ?? ""): \(key.defaultValue)")
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
