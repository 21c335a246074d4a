import CheckoutScreen
import HangSimulation
import Testing

/// Thresholds about a part of a run, and about a share of the seeds.
struct ThresholdTests {
  private func plan(_ thresholds: String...) throws -> SimulationPlan {
    var plan = SaleScenario.plan(
      seed: 3, thresholds: try thresholds.map { try Threshold($0) })
    plan.devices.removeFirst()
    return plan
  }

  private func turns(
    _ report: SimulationReport, _ variant: String
  ) throws -> [TurnReport] {
    try #require(report.run(device: nil, variant: variant)).longestTurns
  }

  @Test func `turns before a time do not count`() async throws {
    let report = try await plan().run().report
    let turns = try turns(report, "tracked")
    let longest = try #require(turns.first)
    let after = turns.filter { $0.start > longest.start }.map(\.length).max()
    let next = try #require(after)
    // The longest of all is the longest from its own beginning on, and not any more after it.
    #expect(try report.meets("longest >= \(longest.length)ns after \(longest.start)ns for tracked"))
    #expect(try report.meets("longest <= \(next)ns after \(longest.start + 1)ns for tracked"))
    #expect(try report.meets("longest >= \(next)ns after \(longest.start + 1)ns for tracked"))
    // The rush is from the eighth second to the twelfth.
    #expect(try report.meets("microhangs > 0 for tracked"))
    #expect(try report.meets("microhangs > 0 after 8s for tracked"))
    #expect(try report.meets("microhangs == 0 after 20s for tracked"))
    #expect(try report.meets("longest == 0ms after 31s"))
  }

  @Test func `what views cost when they appear can be left out`() async throws {
    var plan = try plan()
    let costs = DeviceProfile.Costs(
      action: .zero, view: .cost(.milliseconds(1), appearance: .milliseconds(900)))
    plan.devices = [Device("slow to begin", costs: costs)]
    let report = try await plan.run().report
    #expect(try report.meets("hangs == 1"))
    #expect(try report.meets("hangs == 0 without appearance"))
    #expect(try report.meets("hangs == 0 after 5s"))
    #expect(try report.meets("hangs == 0 for tracked without appearance after 1ms"))
    #expect(try report.meets("longest < 100ms without appearance"))
    #expect(try !report.meets("longest < 100ms"))
  }

  @Test func `a failure names the run with its value, and the verdict is first`() async throws {
    let report = try await plan("microhangs == 0", "hangs >= 0").run().report
    let failure = try #require(report.thresholds.first?.failures.first)
    let run = try #require(report.run(device: failure.device, variant: failure.variant))
    #expect(failure.value == "\(run.microhangs)" && run.microhangs > 0)
    #expect(report.lines[0] == "1 of 2 thresholds not met")
    #expect(
      report.lines[1] == "  ✗ microhangs == 0: \(run.microhangs) in phone x 1.8, tracked")
    #expect(report.lines[2] == "  ✓ hangs >= 0 (0)")
  }

  @Test func `a percentile is about a share of the seeds`() async throws {
    let seeds = Array(1...40 as ClosedRange<UInt64>)
    let all = try await plan().sweep(seeds: seeds)
    let found = all.reports.map { ($0.run(variant: "tracked")?.microhangs ?? 0, $0.seed) }
      .sorted { $0 < $1 }
    // The 38th of 40.
    let p95 = found[37].0
    let sweep = try await plan(
      "p95(microhangs) <= \(p95)", "p95(microhangs) < \(p95) for tracked",
      "microhangs < \(p95) for tracked"
    ).sweep(seeds: seeds)
    #expect(sweep.thresholds.map(\.passed) == [true, false, false])
    let failed = found.count { $0.0 >= p95 }
    let share = try #require(sweep.thresholds[1].failures.first)
    #expect(share.value == "\(p95)" && share.seed == found[37].1 && share.failedSeeds == failed)
    let worst = try #require(sweep.thresholds[2].failures.first)
    #expect(worst.value == "\(found[39].0)" && worst.seeds == 40 && worst.failedSeeds == failed)
    #expect(worst.description.hasSuffix("(\(failed) of 40 seeds)"))
    #expect(sweep.lines[0] == "2 of 3 thresholds not met")
  }

  @Test(arguments: [
    ("hangs == 0 afer 5s", "'afer' is not understood; did you mean 'after'?"),
    ("hangs == 0 without apearance", "did you mean 'without appearance'?"),
    ("hangs == 0 after soon", "expected a time"),
    ("hangs == 0 after 5s after 6s", "says 'after' twice"),
    ("frames > 3 after 5s", "hangs, microhangs and longest only"),
    ("p100(hangs) == 0", "percentiles are from p1 to p99"),
    ("p95(hags) == 0", "there is no metric 'hags'; did you mean 'hangs'?"),
  ])
  func `mistakes are found, with suggestions`(text: String, message: String) {
    let problem = #expect(throws: ThresholdProblem.self) { _ = try Threshold(text) }
    #expect(problem?.message.contains(message) == true, "\(problem?.message ?? "")")
  }

  @Test func `the slowdown is bisected at which a screen hangs`() async throws {
    var plan = try plan()
    plan.variants.removeLast()
    let condition = try Threshold("hangs > 0")
    let found = try await plan.findSlowdown(where: condition, in: 0.5...64)
    let from = try #require(found.first?.holdsFrom)
    let not = try #require(found.first?.holdsNotAt)
    #expect(not < from && from / not <= 1.01)
    let device = plan.devices[0]
    for (factor, hangs) in [(from, true), (not, false)] {
      plan.devices = [device.slowed(by: factor)]
      #expect(try await (plan.run().report.hangs > 0) == hangs)
    }
    let already = try await plan.findSlowdown(where: try Threshold("hangs >= 0"))
    #expect(already.first?.holdsFrom == 1 && already.first?.holdsNotAt == nil)
    let never = try await plan.findSlowdown(where: try Threshold("hangs < 0"), in: 1...2)
    #expect(never.first?.holdsFrom == nil)
  }
}
