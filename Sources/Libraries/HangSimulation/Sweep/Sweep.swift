import Wording

extension SimulationPlan {
  /// Runs the plan once for each seed, with `workers` concurrent runs.
  ///
  /// The number of workers does not affect the result. Workers run on the caller's preferred
  /// executor, so that a service can choose dedicated threads. `progress` is called after each seed
  /// with the number of finished seeds. Throws the errors of ``run(wantsTrace:progress:)``.
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

/// The results of a plan for many seeds.
public struct SweepReport: Sendable, Hashable {
  /// The reports, one for each seed, in the order of the seeds.
  public var reports: [SimulationReport]
  /// The results of the conditions, each checked for every seed or for a percentile over the seeds.
  public var thresholds: [ThresholdReport]

  /// Whether no threshold was missed. A skipped threshold counts as neither met nor missed.
  public var isPassed: Bool { !thresholds.contains(where: \.isMissed) }

  /// A digest of everything that happened in all runs of all seeds.
  public var digest: String {
    var digest = Digest()
    for run in reports.lazy.flatMap(\.runs) { digest.add(run.digest) }
    return digest.text
  }

  /// Returns the distribution over the seeds of a metric of thresholds (``Threshold``), such as
  /// `microhangs` or `view(CartView).mean`. `nil` stands for the first device or variant.
  ///
  /// - Throws: ``ThresholdProblem``.
  public func distribution(
    of metric: String, device: String? = nil, variant: String? = nil
  ) throws(ThresholdProblem) -> SeedDistribution {
    let metric = try ThresholdMetric(metric)
    let values = values(of: metric, device, variant)
    guard !values.isEmpty else {
      throw ThresholdProblem("there is no such run, or it has no data for the metric")
    }
    let sorted = values.sorted { ($0.value, $0.seed) < ($1.value, $1.seed) }
    // The ranks that enclose the median of all possible seeds with 95 % confidence, by the normal
    // approximation of the binomial distribution: n/2 ± 0.98 √n, rounded outwards.
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

  /// Compares two variants seed by seed, and tests whether the difference is significant.
  ///
  /// - Throws: ``ThresholdProblem``.
  public func comparison(
    of metric: String, from before: String, to after: String, device: String? = nil
  ) throws(ThresholdProblem) -> PairedComparison {
    let metric = try ThresholdMetric(metric)
    guard let pairs = pairs(of: metric, before, after, device) else {
      throw ThresholdProblem("there are no such runs, or they have no data for the metric")
    }
    return PairedComparison(pairs.map { (Double($0), Double($1)) })
  }

  /// Returns the figures of two variants for each seed; `nil` if there are no such runs.
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

/// The distribution of a figure over seeds. Values include their unit unless stated otherwise.
public struct SeedDistribution: Sendable, Hashable {
  /// The median: half of the seeds have no higher figure.
  public let median: String
  /// The 95 % confidence interval of the median of all possible seeds.
  public let interval: [String]
  /// The lowest figure of all seeds.
  public let lowest: String
  /// The highest figure of all seeds.
  public let highest: String
  /// The seed of the highest figure; the last of these seeds if several have the same figure.
  public let worstSeed: UInt64
  /// The lowest figure, the interval's lower bound, the median, the upper bound, and the highest
  /// figure, in ascending order.
  let marks: [Int64]
  /// The figure of each seed, in order, without its unit. Times are in milliseconds.
  let values: [String]
}

/// A permutation test of whether pairs of figures differ significantly.
///
/// If there were no difference, the two figures of each pair could be exchanged. The test therefore
/// compares the sum of the differences with the sums that randomly chosen signs give.
public struct PairedComparison: Sendable, Hashable {
  /// The sum of the second figures relative to the sum of the first, minus one: 0.03 means 3 %
  /// more. 0 if the first figures sum to 0.
  public let change: Double
  /// The probability that chance alone gives a difference at least as large.
  public let probability: Double
  /// Whether the probability is below 0.05 and there are enough pairs.
  public var isMoreThanNoise: Bool { canTell && probability < 0.05 }
  /// Whether there are enough pairs for a significant difference. With fewer than six pairs, chance
  /// alone gives all differences the same sign more than once in twenty.
  public var canTell: Bool { count >= Self.fewestPairs }

  /// See ``canTell``. Of the 2^6 ways to assign signs to six differences, 2 give all the same sign,
  /// which is less than 1 in 20.
  package static let fewestPairs = 6
  private let count: Int

  /// Whether the first figures sum to 0, so that no relative change exists.
  let isFromZero: Bool

  private static let permutations = 1_999

  /// Compares pairs of figures. Both figures of a pair belong to the same seed.
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
      // Sums of the same numbers with other signs may differ in their last bits.
      if abs(sum) >= abs(total) * (1 - 1e-12) { asLarge += 1 }
    }
    probability = Double(asLarge + 1) / Double(Self.permutations + 1)
  }
}
