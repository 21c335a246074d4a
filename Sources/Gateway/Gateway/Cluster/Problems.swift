package import RateLimiting

/// Something that is wrong with a node.
package struct Problem: Equatable, Sendable {
  /// Stays the same while its text tells other figures.
  package var kind: String
  package var text: String

  package init(_ kind: String, _ text: String) { (self.kind, self.text) = (kind, text) }
}

/// What the journal is told of problems: each when it has lasted for a moment, and when it is over.
package struct ProblemJournal: Sendable {
  private struct Known: Sendable {
    var problem: Problem
    var since: Instant
    var isReported = false
  }

  /// What is over sooner is not told: connections are made, and nodes hand over.
  private static let patience = Interval.seconds(1)

  private var known: [Known] = []

  package init() {}

  /// Returns the lines that are new. To be called with all problems, some times per second.
  package mutating func update(_ problems: [Problem], at now: Instant) -> [String] {
    var lines: [String] = []
    known.removeAll { entry in
      if problems.contains(where: { $0.kind == entry.problem.kind }) { return false }
      if entry.isReported { lines.append("over: \(entry.problem.text)") }
      return true
    }
    for problem in problems {
      let index = known.firstIndex { $0.problem.kind == problem.kind }
      guard let index else {
        known.append(Known(problem: problem, since: now))
        continue
      }
      guard !known[index].isReported, now - known[index].since >= Self.patience else { continue }
      known[index].problem = problem
      known[index].isReported = true
      lines.append("problem: \(problem.text)")
    }
    return lines
  }
}
