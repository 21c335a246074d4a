import Yams

/// Explains why a text is not valid YAML, with the position and a remedy.
struct YAMLSyntax {
  static let duplicate = "is a duplicate key; remove one"

  /// The maximum number of aliases in a text. An alias may expand to values with other aliases, so
  /// thirty could exceed any memory, but 16 expand to a few hundred times the size of the text.
  static let maximumAliases = 16

  private let lines: [Substring]

  init(_ text: String) {
    lines = text.split(separator: "\n", omittingEmptySubsequences: false)
  }

  /// Returns whether a text has few enough aliases. Also counts quoted text and comments that look
  /// like aliases.
  ///
  /// - Complexity: O(length).
  static func mayBeExpanded(_ text: String) -> Bool {
    var aliases = 0
    var last = UInt8(ascii: " ")
    var isStarred = false
    for byte in text.utf8 {
      if isStarred, byte > UInt8(ascii: " "), byte != UInt8(ascii: "*") { aliases += 1 }
      isStarred = byte == UInt8(ascii: "*") && "\n\r\t ,?:-[{".utf8.contains(last)
      last = byte
    }
    return aliases <= maximumAliases
  }

  func error(_ error: YamlError, file: String) -> ConfigurationError {
    switch error {
    case .scanner(let context, let problem, let mark, _),
      .parser(let context, let problem, let mark, _),
      .composer(let context, let problem, let mark, _):
      // Unclosed constructs are detected after the last line, but reported at their beginning.
      let isPastEnd = mark.line > lines.count || mark.line == lines.count && lines.last == ""
      return ConfigurationError(
        file: file, line: isPastEnd ? context?.mark.line ?? lines.count : mark.line,
        message:
          "is not valid YAML: \(problem); check the quotes, brackets and indentation there")
    case .reader(let problem, let offset, _, let yaml):
      return ConfigurationError(
        file: file,
        line: offset.map { yaml.utf8.prefix($0).count { $0 == UInt8(ascii: "\n") } + 1 },
        message: "is not valid YAML: \(problem); "
          + "write text in UTF-8, with other characters as \\uXXXX between quotes")
    case .duplicatedKeysInMapping(let names, let context):
      let name = names.first ?? "?"
      return ConfigurationError(
        file: file, line: duplicateLine(of: name, after: context.mark),
        key: (keys(above: context.mark) + [name]).joined(separator: "."), message: Self.duplicate)
    case .no, .memory, .writer, .emitter, .representer, .dataCouldNotBeDecoded:
      return ConfigurationError(
        file: file, message: "is not valid YAML: \(error); write YAML in UTF-8")
    }
  }

  /// Returns the line of a duplicate key: the next line after the first key that has the same name
  /// in the same column.
  private func duplicateLine(of name: String, after first: Mark) -> Int {
    for (index, line) in lines.enumerated().dropFirst(first.line) {
      let rest = line.drop { $0 == " " }
      if line.count - rest.count == first.column - 1, rest.hasPrefix(name + ":") {
        return index + 1
      }
    }
    return first.line
  }

  /// Returns the path to a key: the less indented keys above it, up to the enclosing list.
  private func keys(above mark: Mark) -> [String] {
    var keys: [String] = []
    var indentation = mark.column - 1
    for line in lines.prefix(mark.line).reversed() {
      let rest = line.drop { $0 == " " }
      guard line.count - rest.count < indentation, !rest.hasPrefix("#"), !rest.isEmpty else {
        continue
      }
      if rest.hasPrefix("- ") { break }
      indentation = line.count - rest.count
      keys.insert(String(rest.prefix { $0 != ":" && $0 != " " }), at: 0)
    }
    return keys
  }
}
