import Foundation
import Wording

/// The configuration of a program, read from files.
///
/// A program declares its keys in one table, ``keys``. The parser of the file, the check for
/// unknown keys, the commented default file and the manual use this table.
package protocol FileConfiguration: Sendable {
  static var keys: [FileKey<Self>] { get }
  /// The program whose option `--print-default-config` shows all keys.
  static var program: String { get }
  /// A noun phrase that says what the file configures, such as `a source of livehost`.
  static var subject: String { get }

  /// Makes a configuration with the default values.
  init()
}

extension FileConfiguration {
  package static var subject: String { program }

  /// Reads one file. Its values override the current values.
  package mutating func read(file: String) throws(ConfigurationError) {
    try read(text: Self.text(of: file), file: file)
  }

  /// Reads the text of a file. Its values override the current values.
  ///
  /// - Parameter file: The file name for errors.
  package mutating func read(text: String, file: String) throws(ConfigurationError) {
    if let root = try YAMLNode(parsing: text, file: file) { try read(root) }
  }

  /// Reads a mapping of keys, including nested ones, and overwrites the current values.
  private mutating func read(_ node: YAMLNode) throws(ConfigurationError) {
    let example = Self.example(below: node.key)
    for (_, value) in try YAMLMapping(node, known: nil, example: example).entries {
      let path = value.key ?? ""
      if let key = Self.keys.first(where: { $0.path == path }) {
        try key.read(value, &self)
      } else if Self.keys.contains(where: { $0.path.hasPrefix(path + ".") }) {
        try read(value)
      } else {
        let nearest = Spelling.nearest(to: path, among: Self.keys.map(\.path))
        throw value.keyProblem(
          nearest.map { "unknown key; did you mean '\($0)'?" }
            ?? "unknown key; \(Self.program) --print-default-config shows all keys")
      }
    }
  }

  /// Returns the first key below `key` with its default value, as an example for error messages.
  private static func example(below key: String?) -> String? {
    let prefix = key.map { $0 + "." } ?? ""
    guard let example = keys.first(where: { $0.path.hasPrefix(prefix) }) else { return nil }
    let name = example.path.dropFirst(prefix.count)
    let written = name.split(separator: ".").joined(separator: ": {")
    return "\(written): \(example.defaultValue)" + (name.contains(".") ? "}" : "")
  }

  /// The default file, in which each key is commented out.
  package static var commentedDefaults: String {
    var lines = ["# Configuration of \(subject). Every key is shown with its default."]
    var group = ""
    for key in keys {
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

  /// Reads the text of a configuration file.
  package static func text(of file: String) throws(ConfigurationError) -> String {
    let bytes: Data
    do {
      // `String(contentsOfFile:)` rejects files that are not regular, such as /dev/null.
      bytes = try FileHandle(forReadingFrom: URL(fileURLWithPath: file)).readToEnd() ?? Data()
    } catch {
      throw ConfigurationError(file: file, message: unreadable(file, error as NSError))
    }
    guard let text = String(bytes: bytes, encoding: .utf8) else {
      throw ConfigurationError(
        file: file, message: "cannot be read: it is not valid UTF-8; save it in UTF-8")
    }
    return text
  }

  private static func unreadable(_ file: String, _ error: NSError) -> String {
    var isDirectory: ObjCBool = false
    if FileManager.default.fileExists(atPath: file, isDirectory: &isDirectory),
      isDirectory.boolValue
    {
      return "cannot be read: it is a directory; name a file"
    }
    switch CocoaError.Code(rawValue: error.code) {
    case .fileReadNoSuchFile, .fileNoSuchFile:
      return "cannot be read: there is no such file; name one that exists"
    case .fileReadNoPermission:
      return "cannot be read: \(program)'s user has no permission; grant it, or name another file"
    default:
      return "cannot be read: \(error.localizedDescription); name another file"
    }
  }
}
