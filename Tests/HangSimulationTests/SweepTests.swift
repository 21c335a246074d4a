import CheckoutScreen
import HangSimulation
import Testing

/// Many seeds.
struct SweepTests {
  private func plan() -> SimulationPlan {
    var plan = SaleScenario.plan(seed: 0)
    plan.devices.removeFirst()
    return plan
  }

  @Test func `a hundred seeds give the same with one worker and with four`() async throws {
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

  @Test func `a sweep gives median, interval and the worst seed`() async throws {
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

  /// Twenty pairs around values that differ from seed to seed.
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

  @Test func `three percent are found, and noise is taken for a difference once in twenty`() {
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
