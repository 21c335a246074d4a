import CheckoutScreen
import HangSimulation
import Testing

/// Simulations with many seeds.
struct SweepTests {
  private func plan() -> SimulationPlan {
    var plan = SaleScenario.plan(seed: 0)
    plan.devices.removeFirst()
    return plan
  }

  @Test func `a sweep of a hundred seeds gives the same result with one and with four workers`()
    async throws
  {
    let seeds = Array(1...100 as ClosedRange<UInt64>)
    var progress: [Int] = []
    let one = try await plan().sweep(seeds: seeds, workers: 1) { progress.append($0) }
    let four = try await plan().sweep(seeds: seeds, workers: 4)
    #expect(one == four)
    #expect(one.reports.map(\.seed) == seeds)
    #expect(progress == Array(1...100))
    let single = try await SaleScenario.plan(seed: 17).run().report
    #expect(single.runs.suffix(2) == one.reports[16].runs[...])
  }

  @Test func `a sweep reports the median of a figure, its interval and the worst seed`()
    async throws
  {
    let sweep = try await plan().sweep(seeds: Array(1...40))
    let microhangs = sweep.reports.map { $0.run(variant: "tracked")?.microhangs ?? 0 }.sorted()
    let found = try sweep.distribution(of: "microhangs", variant: "tracked")
    #expect(found.median == "\(microhangs[19])")
    #expect(found.lowest == "\(microhangs[0])" && found.highest == "\(microhangs[39])")
    #expect(found.interval == ["\(microhangs[12])", "\(microhangs[27])"])
    let worst = sweep.reports.first { $0.seed == found.worstSeed }
    #expect(worst?.run(variant: "tracked")?.microhangs == microhangs[39])
    #expect(throws: ThresholdProblem.self) { try sweep.distribution(of: "microhang") }
    #expect(throws: ThresholdProblem.self) {
      try sweep.distribution(of: "microhangs", variant: "other")
    }
    let change = try sweep.comparison(of: "microhangs", from: "tracked", to: "ignored")
    #expect(change.isMoreThanNoise && change.change < -0.9)
  }

  @Test
  func `the page of a sweep starts with the verdict, and shows each figure with its interval`()
    async throws
  {
    var plan = plan()
    plan.thresholds = [try Threshold("microhangs < 1 for tracked")]
    let sweep = try await plan.sweep(seeds: Array(1...12))
    let html = sweep.html
    let head = html[..<(try #require(html.firstRange(of: "<h2>")).lowerBound)]
    #expect(head.contains("<p class=\"verdict bad\">1 of 1 threshold not met</p>"))
    #expect(head.contains("12 seeds from 1 to 12"))
    for run in try #require(sweep.reports.first).runs {
      let found = try sweep.distribution(
        of: "microhangs", device: run.device, variant: run.variant)
      let label =
        "<title>microhangs: median \(found.median), with 95 % "
        + "\(found.interval.joined(separator: " to ")), from \(found.lowest) to \(found.highest)</title>"
      #expect(html.contains(label), "\(label)")
      #expect(html.contains("<td>\(found.worstSeed)</td>"))
    }
    let width = try #require(
      html.matches(of: /viewBox="0 0 (\d+) \d+" width="\d+" role="img" aria-label="distributions"/)
        .compactMap { Int($0.1) }.min())
    // Ranges are drawn from left to right, within the chart.
    let ranges = html.matches(of: /class="range" x1="(\d+)" x2="(\d+)" y1="(\d+)"/)
    #expect(ranges.count > 6)
    for range in ranges {
      let (left, right) = (Int(range.1) ?? -1, Int(range.2) ?? -1)
      #expect(left >= 0 && left <= right && right <= width)
    }
    // Labels fit: the name of each row ends left of the lines, and the chart is wide enough for the
    // figures.
    #expect(html.contains(">turns.over(250ms)</text>"))
    for label in html.matches(of: /<text x="(\d+)" y="\d+">([^<]*)<tspan class="label">([^<]*)</) {
      let text = label.2.count + label.3.count
      #expect((Int(label.1) ?? 0) + text * 7 <= width, "\(label.3)")
    }
    #expect(!html.contains("http") && !html.contains("src="))
    #expect(try await self.plan().sweep(seeds: [1]).html.contains("<p class=\"verdict\">"))
  }

  /// Returns twenty pairs of noisy figures, the second of each pair multiplied by `factor`.
  private func pairs(
    _ random: inout SeededGenerator, factor: Double
  ) -> [(before: Double, after: Double)] {
    (0..<20).map { _ in
      let value = 1_000 + Double(random.integer(in: -300...300))
      func noise() -> Double {
        (0..<6).reduce(0) { sum, _ in sum + Double(random.integer(in: -10...10)) }
      }
      return (value + noise(), value * factor + noise())
    }
  }

  @Test
  func `a difference of 3 % is detected, and noise is reported as a difference in 5 % of sweeps`() {
    var random = SeededGenerator(seed: 9)
    var found = 0
    for _ in 0..<200 where PairedComparison(pairs(&random, factor: 1.03)).isMoreThanNoise {
      found += 1
    }
    #expect(found >= 195)
    var mistaken = 0
    for _ in 0..<2_000 where PairedComparison(pairs(&random, factor: 1)).isMoreThanNoise {
      mistaken += 1
    }
    #expect((60...140).contains(mistaken), "\(mistaken) of 2000")
  }
}
