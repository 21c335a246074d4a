import CheckoutScreen
import HangSimulation
import JSON
import Testing

/// Thresholds that are relative to a base: another variant, or another report.
struct BaselineTests {
  private func plan(_ thresholds: [String]) throws -> SimulationPlan {
    var plan = SaleScenario.plan(seed: 3, thresholds: try thresholds.map { try Threshold($0) })
    plan.devices.removeFirst()
    return plan
  }

  @Test func `relative thresholds compare with the first variant on the same device`() async throws
  {
    let report = try await plan(
      [
        "microhangs <= base", "microhangs <= base * 0.5", "longest > base * 2",
        "microhangs < base - 9",
      ]
    ).run().report
    let counts = report.runs.map(\.microhangs)
    try #require(counts[0] > 5 && counts[1] == 0)
    #expect(report.thresholds.map(\.passed) == [true, true, false, counts[0] > 9])
    let failure = try #require(report.thresholds[2].failures.first)
    #expect(report.thresholds[2].failures.count == 1 && failure.variant == "ignored")
    #expect(failure.base != nil && failure.description.contains("ignored, and "))
  }

  @Test func `without a second variant, a relative threshold is skipped with a reason`()
    async throws
  {
    var plan = try plan(["microhangs <= base"])
    plan.variants.removeLast()
    let threshold = try await plan.run().report.thresholds[0]
    #expect(threshold.skipped?.hasPrefix("there is no base") == true && !threshold.passed)
  }

  @Test func `over many seeds, a threshold is missed only if the means differ by more than noise`()
    async throws
  {
    let seeds = Array(1...12 as ClosedRange<UInt64>)
    // Both variants are equal except for the effects of the seeds.
    let sweep = try await plan(["frames >= base * 1.01", "microhangs < base", "hangs <= base"])
      .sweep(seeds: seeds)
    let frames = sweep.reports.map { $0.runs.map(\.frames) }
    let test = PairedComparison(frames.map { (Double($0[0]) * 1.01, Double($0[1])) })
    let isClear = test.isMoreThanNoise && test.change < 0
    #expect(sweep.thresholds.map(\.passed) == [!isClear, true, true])
  }

  private func figures(_ report: String) throws -> ReportFigures {
    try #require(ReportFigures(JSONValue(parsing: report)))
  }

  private func check(
    _ text: String, _ head: ReportFigures, base: ReportFigures
  ) throws -> ThresholdReport {
    try Threshold(text).check(head, base: base, matchingVariants: true)
  }

  @Test func `a report is compared with an earlier report file`() async throws {
    let base = try figures(try await plan([]).run().report.json)
    var slower = try plan([])
    slower.devices = slower.devices.map { device in
      Device(
        profile: device.slowed(by: 1.3).profile, name: device.name, conditions: device.conditions)
    }
    let report = try await slower.run().report
    let head = try figures(report.json)
    for (text, passed) in [
      ("longest <= base * 1.1", false), ("longest <= base * 4", true), ("hangs < 99", true),
      ("view(BasketView).evaluations <= base * 1.1", true), ("busy <= base", false),
      ("frame.p95 <= base", false), ("turns.over(250ms) <= base", false),
    ] {
      #expect(try check(text, head, base: base).passed == passed, "\(text)")
    }
    let same = try check("longest <= base", base, base: base)
    #expect(same.passed)
    // A report file does not contain the data that a threshold with a time window needs.
    let window = try check("hangs == 0 after 5s", head, base: base)
    #expect(window.isMissed && window.line.contains("the report does not contain the metric"))
  }

  @Test func `a figure that an earlier version's report lacks is skipped in the comparison`()
    async throws
  {
    let text = try await plan([]).run().report.json
    guard case .object(var report) = try JSONValue(parsing: text),
      case .array(let runs)? = report["runs"]
    else {
      Issue.record("The report must be an object.")
      return
    }
    report["runs"] = .array(
      runs.map { run in
        guard case .object(var run) = run else { return run }
        run["frameMs"] = nil
        run["frozenFrames"] = nil
        return .object(run)
      })
    let old = try figures(JSONValue.object(report).description)
    let threshold = try check("frames.frozen <= base", try figures(text), base: old)
    #expect(threshold.isMissed && threshold.line.contains("in the base, no frame was drawn"))
    #expect(try check("hangs <= base", try figures(text), base: old).passed)
  }

  @Test func `a sweep report contains each figure and each threshold's figure for every seed`()
    async throws
  {
    let seeds = Array(1...8 as ClosedRange<UInt64>)
    let plan = try plan(["view(BasketView).mean < 1s", "p50(turns.over(300ms)) < 99"])
    let base = try figures(try await plan.sweep(seeds: seeds).json)
    var slower = plan
    slower.devices = slower.devices.map { device in
      Device(
        profile: device.slowed(by: 1.2).profile, name: device.name, conditions: device.conditions)
    }
    let head = try figures(try await slower.sweep(seeds: seeds).json)
    let mean = try check("view(BasketView).mean <= base * 1.1", head, base: base)
    #expect(mean.failures.count == 2 && mean.failures[0].seeds == 8)
    #expect(mean.failures[0].description.contains("(8 of 8 seeds)"))
    #expect(try check("view(BasketView).mean <= base * 1.3", head, base: base).passed)
    #expect(try check("p50(longest) <= base", head, base: base).isMissed)
    #expect(try check("view(TotalView).mean <= base", head, base: base).isMissed)
  }

  @Test func `a comparison of fewer than six seeds reports that it cannot detect a difference`()
    async throws
  {
    let plan = try plan([])
    let few = try await plan.sweep(seeds: [1, 2, 3, 4])
    #expect(
      few.comparisonLines[0]
        == "Too few seeds to detect a difference: at least 6 are needed")
    #expect(few.comparisonLines.contains { $0.hasSuffix("too few seeds") })
    #expect(!few.comparisonLines.contains { $0.hasSuffix("more than noise") })
    let six = try await plan.sweep(seeds: [1, 2, 3, 4, 5, 6])
    #expect(six.comparisonLines.contains { $0.hasSuffix("more than noise") })
    let five = PairedComparison((1...5).map { _ in (before: 1, after: 2) })
    #expect(!five.canTell && !five.isMoreThanNoise)
  }
}
