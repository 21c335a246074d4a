/// Why a scenario, a device profile or a threshold was refused: where, and what to do.
package struct ScenarioError: Error, Equatable, Sendable, CustomStringConvertible {
  package var file: String
  /// From 1; nil if the file as a whole is meant.
  package var line: Int?
  /// The key with those around it, such as `events[2].stages[0].rate`.
  package var key: String?
  package var message: String

  package init(file: String, line: Int? = nil, key: String? = nil, message: String) {
    self.file = file
    self.line = line
    self.key = key
    self.message = message
  }

  package var description: String {
    let place = line.map { "\(file):\($0)" } ?? file
    return key.map { "\(place): \($0): \(message)" } ?? "\(place): \(message)"
  }
}
