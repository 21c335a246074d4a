import Foundation
import LiveEvents
import Suggestions
import Yams

/// Why a configuration was refused: where, and what to do.
package struct ConfigurationError: Error, Equatable, CustomStringConvertible {
  package var file: String
  /// From 1; `nil` if the file as a whole is meant.
  package var line: Int?
  package var key: String?
  package var message: String

  package var description: String {
    let place = line.map { "\(file):\($0)" } ?? file
    return key.map { "\(place): \($0): \(message)" } ?? "\(place): \(message)"
  }
}

extension Configuration {
  /// Directories that are searched, the later ones overriding the earlier ones.
  package static let directories = ["/usr/lib/livehost", "/run/livehost.d", "/etc/livehost"]

  /// Reads the files of an installed daemon: in each directory `livehostd.yaml`, then
  /// `livehostd.yaml.d/*.yaml` by name. Files that do not exist are skipped.
  package static func load(
    directories: [String] = Configuration.directories
  ) throws(ConfigurationError) -> Configuration {
    var configuration = Configuration()
    for directory in directories {
      let main = directory + "/livehostd.yaml"
      if FileManager.default.fileExists(atPath: main) { try configuration.read(file: main) }
      let dropIns = main + ".d"
      let names = (try? FileManager.default.contentsOfDirectory(atPath: dropIns)) ?? []
      for name in names.sorted() where name.hasSuffix(".yaml") {
        try configuration.read(file: dropIns + "/" + name)
      }
    }
    return configuration
  }

  /// Reads one file over the present values.
  package mutating func read(file: String) throws(ConfigurationError) {
    let text: String
    do {
      text = try String(contentsOfFile: file, encoding: .utf8)
    } catch {
      throw ConfigurationError(file: file, message: Self.unreadable(file, error as NSError))
    }
    try read(text: text, file: file)
  }

  /// Reads `text` over the present values. `file` is its name in errors.
  package mutating func read(text: String, file: String) throws(ConfigurationError) {
    let root: Node?
    do {
      root = try Yams.compose(yaml: text)
    } catch let error as YamlError {
      let fault = YamlFault(error, in: text)
      throw ConfigurationError(
        file: file, line: fault.line, key: fault.key, message: fault.message)
    } catch {
      throw ConfigurationError(file: file, message: "\(error); write YAML 1.1")
    }
    guard let root, root.null == nil else { return }
    try read(root, prefix: "", file: file)
  }

  private mutating func read(
    _ node: Node, prefix: String, file: String
  ) throws(ConfigurationError) {
    guard let mapping = node.mapping else {
      throw ConfigurationError(
        file: file, line: node.mark?.line, key: prefix.isEmpty ? nil : prefix,
        message: Self.expectedKeys(prefix))
    }
    var seen: Set<String> = []
    for (keyNode, value) in mapping {
      let name = keyNode.string ?? "?"
      let path = prefix.isEmpty ? name : "\(prefix).\(name)"
      let line = keyNode.mark?.line
      guard seen.insert(name).inserted else {
        throw ConfigurationError(file: file, line: line, key: path, message: Self.twice)
      }
      if let key = ConfigurationKey.all.first(where: { $0.path == path }) {
        do throws(ConfigurationProblem) {
          try key.read(value, &self)
        } catch {
          throw ConfigurationError(
            file: file, line: error.line ?? value.mark?.line ?? line,
            key: error.key.map { "\(path).\($0)" } ?? path, message: error.message)
        }
      } else if ConfigurationKey.all.contains(where: { $0.path.hasPrefix(path + ".") }) {
        try read(value, prefix: path, file: file)
      } else {
        throw ConfigurationError(
          file: file, line: line, key: path, message: Self.unknownKey(path))
      }
    }
  }

  private static func unknownKey(_ path: String) -> String {
    let known = ConfigurationKey.all.map(\.path)
    guard let nearest = Spelling.nearest(to: path, among: known) else {
      return "unknown key; livehostd --print-default-config shows all there are"
    }
    return "unknown key; did you mean \(nearest)?"
  }

  static let twice = "stands here twice; remove one of them"

  /// What belongs below a key that stands for several, with one of them as the example.
  private static func expectedKeys(_ prefix: String) -> String {
    let example = ConfigurationKey.all.first { prefix.isEmpty || $0.path.hasPrefix(prefix + ".") }
    guard let example else { return "expected keys and values" }
    let name = prefix.isEmpty ? example.path : String(example.path.dropFirst(prefix.count + 1))
    let written = name.split(separator: ".").joined(separator: ": {")
    let closing = name.contains(".") ? "}" : ""
    return "expected keys and values, such as \(written): \(example.standard)\(closing)"
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
      return "cannot be read: livehostd's user may not; allow it, or name another file"
    case .fileReadInapplicableStringEncoding, .fileReadUnknownStringEncoding, .fileReadCorruptFile:
      return "cannot be read: it is not valid UTF-8; save it in UTF-8"
    default:
      return "cannot be read: \(error.localizedDescription); name another file"
    }
  }

  /// The commented default file.
  package static var commentedDefaults: String {
    var lines = ["# Configuration of livehostd. Every key is shown with its default."]
    var group = ""
    for key in ConfigurationKey.all {
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

/// Whether `name` may name a room.
func isRoomName(_ name: String) -> Bool { RoomName(name) != nil }
