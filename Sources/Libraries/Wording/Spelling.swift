/// Finds the word that a misspelled word probably stands for.
package enum Spelling {
  /// Returns the first candidate that starts with `word`, or else the candidate with the fewest
  /// edits. Returns `nil` if the best candidate needs more edits than half of the word's
  /// characters.
  ///
  /// Ties are resolved alphabetically, so that messages are the same in each run.
  /// - Complexity: O(number of candidates × product of the lengths).
  package static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
    let candidates = candidates.sorted()
    if word.count > 2, let longer = candidates.first(where: { $0.hasPrefix(word) }) {
      return longer
    }
    let ranked = candidates.map { (distance(word, $0), $0) }.min { $0 < $1 }
    guard let best = ranked, best.0 <= max(1, word.count / 2) else { return nil }
    return best.1
  }

  /// Returns the candidate of which `word` is probably a misspelling: at most two edits away, or
  /// one if the word is short. A name that differs from `word` only in its digits is not considered
  /// a misspelling, because it probably refers to a different thing.
  /// - Complexity: O(number of candidates × product of the lengths).
  package static func misspelled(_ word: String, among candidates: [String]) -> String? {
    let limit = word.count > 3 ? 2 : word.count > 2 ? 1 : 0
    let letters = word.filter { !$0.isNumber }
    let near = candidates.sorted().filter { candidate in
      abs(candidate.count - word.count) <= limit && candidate != word
        && candidate.filter { !$0.isNumber } != letters
    }
    let best = near.map { (distance(word, $0), $0) }.min { $0 < $1 }
    return best.flatMap { $0.0 <= limit ? $0.1 : nil }
  }

  /// Returns a hint for a message about an unknown word: the nearest candidate, or all candidates.
  package static func hint(for word: String, among candidates: [String]) -> String {
    if let near = nearest(to: word, among: candidates) { return "; did you mean '\(near)'?" }
    return candidates.isEmpty ? "" : "; use one of \(candidates.joined(separator: ", "))"
  }

  /// Returns the Levenshtein distance in characters. O(product of the lengths).
  static func distance(_ left: String, _ right: String) -> Int {
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
