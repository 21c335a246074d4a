/// Whether a condition was met.
public struct ThresholdReport: Sendable, Hashable {
  /// As it was written.
  public var text: String
  /// The worst value of all runs that it applies to, with its unit.
  public var value: String
  /// Whether it was checked, and all runs met it.
  public var passed: Bool { failures.isEmpty && skipped == nil }
  /// Whether a run did not meet it, or no run has anything that it could be checked against.
  public var isMissed: Bool { !failures.isEmpty }
  /// Runs that did not meet it.
  public var failures: [Failure]
  /// Why it was not checked, for example because no run of its device was chosen; `nil` if it was.
  public var skipped: String?
  /// Runs that have nothing to check, if others have; ``Failure/value`` says what is missing.
  public var withoutData: [Failure] = []

  package init(text: String, value: String, failures: [Failure], skipped: String? = nil) {
    self.text = text
    self.value = value
    self.failures = failures
    self.skipped = skipped
  }

  /// A run that did not meet a condition, or that of several seeds.
  public struct Failure: Sendable, Hashable {
    /// The device of the run.
    public var device: String
    /// The variant of the run.
    public var variant: String
    /// What was found instead, with its unit: of several seeds the worst, or the percentile that was asked for. If it is
    /// compared with a base, the mean.
    public var value: String
    /// What the base has, with its unit; `nil` for a comparison with a fixed value.
    public var base: String?
    /// The seed that gave this value.
    public var seed: UInt64
    /// How many seeds did not meet it.
    public var failedSeeds: Int
    /// Of how many.
    public var seeds: Int
    /// What in the run the condition is about, in lines: turns, actions, fields and views.
    public var explanation: [String] = []

    package init(
      device: String, variant: String, value: String, base: String? = nil, seed: UInt64,
      failedSeeds: Int, seeds: Int
    ) {
      self.device = device
      self.variant = variant
      self.value = value
      self.base = base
      self.seed = seed
      self.failedSeeds = failedSeeds
      self.seeds = seeds
    }
  }
}

extension ThresholdReport {
  /// One line: a mark, the text, and the worst value or the runs that did not meet it, with theirs.
  public var line: String {
    if let skipped { return "  - \(text): skipped, \(skipped)" }
    let rest = withoutData.map { "; \($0.description)" }.joined()
    return passed
      ? "  ✓ \(text) (\(value)\(rest))"
      : "  ✗ \(text): " + failures.map(\.description).joined(separator: "; ") + rest
  }

  /// What the first runs that did not meet it are about, in lines.
  package var explanation: [String] {
    explainedFailures.flatMap { failure in
      ["    \(text) in \(failure.place):"] + failure.explanation.map { "      " + $0 }
    }
  }

  var explainedFailures: [Failure] {
    failures.prefix(Self.explainedRuns).filter { !$0.explanation.isEmpty }
  }

  /// The value of a threshold about something that no run has.
  static let nothing = "nothing to check"
  private static let explainedRuns = 3
}

extension ThresholdReport.Failure: CustomStringConvertible {
  var place: String { "\(device), \(variant), seed \(seed)" }

  /// The value, and where it was found.
  public var description: String {
    let of = seeds > 1 ? " with seed \(seed) (\(failedSeeds) of \(seeds) seeds)" : ""
    guard let base else { return "\(value) in \(device), \(variant)\(of)" }
    let pairs = seeds > 1 ? " (\(failedSeeds) of \(seeds) seeds)" : ""
    return "\(value) in \(device), \(variant), where the base has \(base)\(pairs)"
  }
}
