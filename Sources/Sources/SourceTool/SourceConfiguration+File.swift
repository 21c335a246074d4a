import Foundation
import Suggestions
package import YAMLReader

extension SourceConfiguration {
  /// Reads a configuration file.
  package init(file: String) throws(ConfigurationError) {
    let text: String
    do {
      text = try String(contentsOfFile: file, encoding: .utf8)
    } catch {
      throw ConfigurationError(file: file, message: "cannot be read: \(error.localizedDescription)")
    }
    self.init()
    try read(text, file: file)
  }

  /// Reads the text of a configuration file over the present values.
  package mutating func read(_ text: String, file: String) throws(ConfigurationError) {
    if let root = try YAMLNode(parsing: text, file: file) { try read(root) }
    try validate(file: file)
  }

  private mutating func read(_ node: YAMLNode) throws(ConfigurationError) {
    for (_, value) in try YAMLMapping(node, known: nil, example: "kind: twitch").entries {
      let path = value.key ?? ""
      if let key = SourceKey.all.first(where: { $0.path == path }) {
        try key.read(value, &self)
      } else if SourceKey.all.contains(where: { $0.path.hasPrefix(path + ".") }) {
        try read(value)
      } else {
        let hint = Spelling.nearest(to: path, among: SourceKey.all.map(\.path))
        throw value.keyProblem(
          hint.map { "unknown key; did you mean '\($0)'?" }
            ?? "unknown key; livehost-source --print-default-config shows all keys")
      }
    }
  }

  private func validate(file: String) throws(ConfigurationError) {
    guard let kind else {
      throw ConfigurationError(file: file, key: "kind", message: "is missing; write 'kind: twitch'")
    }
    switch kind {
    case .twitch:
      guard !twitch.channels.isEmpty else {
        throw ConfigurationError(
          file: file, key: "twitch.channels", message: "names no channel; write [channel]")
      }
    }
  }

  /// The commented default file.
  package static var commentedDefaults: String {
    var lines = ["# Configuration of a source of livehost. Every key is shown with its default."]
    var group = ""
    for key in SourceKey.all {
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
