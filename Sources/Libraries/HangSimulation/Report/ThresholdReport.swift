/// The result of a condition.
public struct ThresholdReport: Sendable, Hashable {
  /// The condition as written.
  public var text: String
  /// The worst value of all runs to which the condition applies, with its unit.
  public var value: String
  /// Whether the condition was checked and met by all runs.
  public var passed: Bool { failures.isEmpty && skipped == nil }
  /// Whether a run did not meet the condition, or no run has data for it.
  public var isMissed: Bool { !failures.isEmpty }
  /// The runs that did not meet the condition.
  public var failures: [Failure]
  /// The reason why the condition was not checked, for example because no run of the condition's
  /// device was chosen; `nil` if it was checked.
  public var skipped: String?
  /// The runs without data, if other runs have data; ``Failure/value`` contains the reason.
  public var withoutData: [Failure] = []

  package init(text: String, value: String, failures: [Failure], skipped: String? = nil) {
    self.text = text
    self.value = value
    self.failures = failures
    self.skipped = skipped
  }

  /// A run, or the runs of several seeds, that did not meet a condition.
  public struct Failure: Sendable, Hashable {
    /// The device of the run.
    public var device: String
    /// The variant of the run.
    public var variant: String
    /// The value found, with its unit: for several seeds, the worst value or the requested
    /// percentile; for a comparison with a base, the mean.
    public var value: String
    /// The value of the base, with its unit; `nil` for a comparison with a fixed value.
    public var base: String?
    /// The seed of the value.
    public var seed: UInt64
    /// The number of seeds that did not meet the condition.
    public var failedSeeds: Int
    /// The total number of seeds.
    public var seeds: Int
    /// Lines that explain the value: turns, actions, fields, and views.
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
  /// One line with a mark, the text, and either the worst value or the runs that did not meet the
  /// condition.
  public var line: String {
    if let skipped { return "  - \(text): skipped, \(skipped)" }
    let rest = withoutData.map { "; \($0.description)" }.joined()
    return passed
      ? "  ✓ \(text) (\(value)\(rest))"
      : "  ✗ \(text): " + failures.map(\.description).joined(separator: "; ") + rest
  }

  /// Lines that explain the first runs that did not meet the condition.
  package var explanation: [String] {
    explainedFailures.flatMap { failure in
      ["    \(text) in \(failure.location):"] + failure.explanation.map { "      " + $0 }
    }
  }

  var explainedFailures: [Failure] {
    failures.prefix(Self.explainedRuns).filter { !$0.explanation.isEmpty }
  }

  /// The value of a threshold for which no run has data.
  static let nothing = "nothing to check"
  private static let explainedRuns = 3
}

extension ThresholdReport.Failure: CustomStringConvertible {
  var location: String { "\(device), \(variant), seed \(seed)" }

  /// The value and the run in which it was found.
  public var description: String {
    let of = seeds > 1 ? " with seed \(seed) (\(failedSeeds) of \(seeds) seeds)" : ""
    guard let base else { return "\(value) in \(device), \(variant)\(of)" }
    let pairs = seeds > 1 ? " (\(failedSeeds) of \(seeds) seeds)" : ""
    return "\(value) in \(device), \(variant), and \(base) in the base\(pairs)"
  }
}
