package import RateLimiting

/// A problem of a node.
package struct Problem: Equatable, Sendable {
  /// A key that stays the same while the figures in ``text`` change.
  package var kind: String
  package var text: String

  package init(_ kind: String, _ text: String) { (self.kind, self.text) = (kind, text) }
}

/// Decides when to log problems. Each problem is logged after it has lasted for a moment, and again
/// when it has ended.
package struct ProblemJournal: Sendable {
  private struct OngoingProblem: Sendable {
    var problem: Problem
    var since: Instant
    var isReported = false
  }

  /// How long a problem must last to be reported. Shorter problems are normal while connections are
  /// made and partitions move.
  private static let patience = Interval.seconds(1)

  private var ongoing: [OngoingProblem] = []

  package init() {}

  /// Returns the new lines for the journal. Must be called several times per second with all
  /// current problems.
  package mutating func update(_ problems: [Problem], at now: Instant) -> [String] {
    var lines: [String] = []
    ongoing.removeAll { entry in
      if problems.contains(where: { $0.kind == entry.problem.kind }) { return false }
      if entry.isReported { lines.append("over: \(entry.problem.text)") }
      return true
    }
    for problem in problems {
      let index = ongoing.firstIndex { $0.problem.kind == problem.kind }
      guard let index else {
        ongoing.append(OngoingProblem(problem: problem, since: now))
        continue
      }
      guard !ongoing[index].isReported, now - ongoing[index].since >= Self.patience else {
        continue
      }
      ongoing[index].problem = problem
      ongoing[index].isReported = true
      lines.append("problem: \(problem.text)")
    }
    return lines
  }
}
