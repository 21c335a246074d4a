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

/// Finds the word that was probably meant.
enum Spelling {
  /// What to add to a message about an unknown word: the nearest candidate, or all of them.
  static func hint(for word: String, among candidates: [String]) -> String {
    if word.count > 2, let longer = candidates.first(where: { $0.hasPrefix(word) }) {
      return "; did you mean '\(longer)'?"
    }
    let ranked = candidates.map { (distance(word, $0), $0) }.sorted { $0 < $1 }
    if let best = ranked.first, best.0 <= max(1, word.count / 2) {
      return "; did you mean '\(best.1)'?"
    }
    return candidates.isEmpty ? "" : "; use one of \(candidates.joined(separator: ", "))"
  }

  /// Levenshtein distance in characters. O(product of the lengths).
  private static func distance(_ left: String, _ right: String) -> Int {
    let right = Array(right)
    var row = Array(0...right.count)
    for (index, character) in left.enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for column in right.indices {
        let substitution = diagonal + (character == right[column] ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(substitution, diagonal + 1, row[column] + 1)
      }
    }
    return row[right.count]
  }
}
