/// The reason why a configuration file, a scenario or the value of an option was rejected, with its
/// position and a remedy.
package struct ConfigurationError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The file, or the option, such as `--set`.
  package var file: String
  /// The line, counted from 1; `nil` if the error concerns the whole file.
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

  /// Whether the error concerns an option rather than a file.
  package var isUsage: Bool { file.hasPrefix("--") }

  /// The error in the format of compilers: `file:line: key: message`.
  package var description: String {
    let position = line.map { "\(file):\($0)" } ?? file
    return key.map { "\(position): \($0): \(message)" } ?? "\(position): \(message)"
  }
}
