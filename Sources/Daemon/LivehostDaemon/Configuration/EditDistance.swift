extension String {
  /// Levenshtein distance in characters; for suggestions. O(n * m).
  func distance(to other: String) -> Int {
    let target = Array(other)
    var row = Array(0...target.count)
    for (i, character) in self.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for j in target.indices {
        let cost = character == target[j] ? diagonal : Swift.min(diagonal, row[j], row[j + 1]) + 1
        diagonal = row[j + 1]
        row[j + 1] = cost
      }
    }
    return row[target.count]
  }
}
