import Wording

extension SimulationPlan {
  /// Runs the plan once for each seed, several at the same time.
  ///
  /// The result does not depend on the number of workers. They run where the caller's task prefers to, so that a
  /// service can keep them on threads of its own.
  ///
  /// - Parameters:
  ///   - workers: how many runs are under way at the same time.
  ///   - progress: called with the number of seeds that are done, after each.
  /// - Throws: what ``run(wantsTrace:progress:)`` throws.
  public func sweep(
    seeds: [UInt64], workers: Int = 2, progress: (_ done: Int) -> Void = { _ in }
  ) async throws -> SweepReport {
    var reports = [SimulationReport?](repeating: nil, count: seeds.count)
    try await withThrowingTaskGroup(of: (Int, SimulationReport).self) { group in
      var next = 0
      var done = 0
      func begin() {
        guard next < seeds.count else { return }
        var plan = self
        plan.seed = seeds[next]
        let number = next
        next += 1
        group.addTask { [plan] in (number, try await plan.run().report) }
      }
      for _ in 0..<max(1, workers) { begin() }
      while let (number, report) = try await group.next() {
        reports[number] = report
        done += 1
        progress(done)
        begin()
      }
    }
    let found = reports.compactMap(\.self)
    return SweepReport(reports: found, thresholds: thresholds.map { $0.check(found) })
  }
}

/// What many seeds of a plan came to.
public struct SweepReport: Sendable, Hashable {
  /// One for each seed, in the order of the seeds.
  public var reports: [SimulationReport]
  /// Which conditions were met by all seeds, or by the share of them that they ask for.
  public var thresholds: [ThresholdReport]

  /// Whether no threshold was missed. Those that were skipped are neither met nor missed.
  public var isPassed: Bool { !thresholds.contains(where: \.isMissed) }

  /// Identifies everything that happened in all runs of all seeds.
  public var digest: String {
    var digest = Digest()
    for run in reports.lazy.flatMap(\.runs) { digest.add(run.digest) }
    return digest.text
  }

  /// How a figure is distributed over the seeds.
  ///
  /// - Parameters:
  ///   - metric: as in thresholds, such as `microhangs` or `view(CartView).mean`; see ``Threshold``.
  ///   - device: `nil` for the first one.
  ///   - variant: `nil` for the first one.
  /// - Throws: ``ThresholdProblem``.
  public func distribution(
    of metric: String, device: String? = nil, variant: String? = nil
  ) throws(ThresholdProblem) -> SeedDistribution {
    let metric = try ThresholdMetric(metric)
    let values = values(of: metric, device, variant)
    guard !values.isEmpty else {
      throw ThresholdProblem("there is no such run, or nothing in it to measure")
    }
    let sorted = values.sorted { ($0.value, $0.seed) < ($1.value, $1.seed) }
    // The ranks between which the median of all seeds is with 95 %: about half of the number, give or take
    // once its root, by the normal approximation of the binomial distribution.
    let half = Double(sorted.count) / 2
    let spread = 1.96 * half.squareRoot() * 0.5.squareRoot()
    let low = max(0, Int((half - spread).rounded(.down)) - 1)
    let high = min(sorted.count - 1, Int((half + spread).rounded(.up)))
    func text(_ index: Int) -> String { metric.text(sorted[index].value) }
    return SeedDistribution(
      median: text((sorted.count - 1) / 2), interval: [text(low), text(high)],
      lowest: text(0), highest: text(sorted.count - 1), worstSeed: sorted[sorted.count - 1].seed,
      marks: [0, low, (sorted.count - 1) / 2, high, sorted.count - 1].map { sorted[$0].value },
      values: values.map { metric.plain($0.value) })
  }

  /// Compares two variants, seed by seed: whether they differ by more than chance explains.
  ///
  /// - Throws: ``ThresholdProblem``.
  public func comparison(
    of metric: String, from before: String, to after: String, device: String? = nil
  ) throws(ThresholdProblem) -> PairedComparison {
    let metric = try ThresholdMetric(metric)
    guard let pairs = pairs(of: metric, before, after, device) else {
      throw ThresholdProblem("there are no such runs, or nothing in them to measure")
    }
    return PairedComparison(pairs.map { (Double($0), Double($1)) })
  }

  /// The figures of two variants for each seed; `nil` if there are no such runs.
  func pairs(
    of metric: ThresholdMetric, _ before: String, _ after: String, _ device: String?
  ) -> [(before: Int64, after: Int64)]? {
    let new = Dictionary(values(of: metric, device, after).map { ($0.seed, $0.value) }) { $1 }
    let pairs = values(of: metric, device, before).compactMap { old in
      new[old.seed].map { (before: old.value, after: $0) }
    }
    return pairs.isEmpty ? nil : pairs
  }

  func values(
    of metric: ThresholdMetric, _ device: String?, _ variant: String?
  ) -> [(value: Int64, seed: UInt64)] {
    reports.compactMap { report in
      guard let run = report.run(device: device, variant: variant) else { return nil }
      return metric.value(in: run).map { ($0, report.seed) }
    }
  }
}

/// How a figure is distributed over seeds, with its unit.
public struct SeedDistribution: Sendable, Hashable {
  /// Half of the seeds have no more.
  public let median: String
  /// Where the median of all seeds is, with 95 %.
  public let interval: [String]
  /// The lowest figure of all seeds.
  public let lowest: String
  /// The highest figure of all seeds.
  public let highest: String
  /// The seed of the highest figure; of several, the last one.
  public let worstSeed: UInt64
  /// Ascending: the lowest figure, the interval's lower bound, the median, the upper bound, and the highest figure.
  let marks: [Int64]
  /// The figure of each seed, in the order of the seeds: a number without its unit, of times in milliseconds.
  let values: [String]
}

/// Whether pairs of figures differ by more than chance explains: a permutation test.
///
/// If there were no difference, each pair could as well be the other way round. So the sum of the differences is
/// compared with those that random signs give.
public struct PairedComparison: Sendable, Hashable {
  /// The mean of the second figures relative to that of the first, minus one: 0.03 is 3 % more. 0 if the first
  /// are 0.
  public let change: Double
  /// How often chance alone gives a difference at least as large.
  public let probability: Double
  /// Whether that is less than once in twenty, and there are enough pairs to tell.
  public var isMoreThanNoise: Bool { canTell && probability < 0.05 }
  /// Whether there are enough pairs that a difference can be more than noise. Of fewer than six, chance alone gives all of
  /// them the same sign more than once in twenty.
  public var canTell: Bool { count >= Self.fewestPairs }

  /// See ``canTell``: 2 of the 2^6 ways to give six pairs a sign are less than 1 in 20.
  package static let fewestPairs = 6
  private let count: Int

  /// Whether the first figures are all 0, so that there is nothing to be relative to.
  let isFromZero: Bool

  private static let permutations = 1_999

  /// Compares pairs, of the same seed each.
  public init(_ pairs: [(before: Double, after: Double)]) {
    let differences = pairs.map { $0.after - $0.before }
    let total = differences.reduce(0, +)
    let base = pairs.reduce(0) { $0 + $1.before }
    change = base == 0 ? 0 : total / base
    isFromZero = base == 0
    count = pairs.count
    var random = SeededGenerator(seed: 1)
    var asLarge = 0
    for _ in 0..<Self.permutations {
      var sum = 0.0
      var bits: UInt64 = 0
      for (index, difference) in differences.enumerated() {
        if index % 64 == 0 { bits = random.next() }
        sum += bits & 1 == 0 ? difference : -difference
        bits >>= 1
      }
      // Sums of the same numbers in another order of signs may differ in their last bits.
      if abs(sum) >= abs(total) * (1 - 1e-12) { asLarge += 1 }
    }
    probability = Double(asLarge + 1) / Double(Self.permutations + 1)
  }
}
