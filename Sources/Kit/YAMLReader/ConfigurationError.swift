/// Why a configuration file, a scenario or a value given as an option was refused: where, and what to
/// do about it.
package struct ConfigurationError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The file, or the option, such as `--set`.
  package var file: String
  /// From 1; `nil` if the file as a whole is meant.
  package var line: Int?
  /// The path of keys, such as `events[2].stages[0].rate`.
  package var key: String?
  package var message: String

  package init(file: String, line: Int? = nil, key: String? = nil, message: String) {
    self.file = file
    self.line = line
    self.key = key
    self.message = message
  }

  /// Whether it is about an option rather than a file.
  package var isUsage: Bool { file.hasPrefix("--") }

  /// As compilers write theirs: `file:line: key: message`.
  package var description: String {
    let position = line.map { "\(file):\($0)" } ?? file
    return key.map { "\(position): \($0): \(message)" } ?? "\(position): \(message)"
  }
}
