import CheckoutScreen
import Composable
import HangSimulation
import Testing
import ViewGraph

/// A feature that reduces slowly, and opens a panel whose view appears slowly.
@Reducer
private struct Desk {
  @ObservableState
  struct State: Equatable, Sendable {
    var count: Int = 0
    @ObservationStateIgnored var panel: Panel? = nil
  }

  @ObservableState
  struct Panel: Equatable, Sendable {
    var title: String = "panel"
  }

  enum Action: Sendable { case counted, opened }

  func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .counted: state.count += 1
    case .opened: state.panel = Panel()
    }
    return .none
  }
}

private struct DeskView: View {
  static let name = "DeskView"
  func body(_ state: Observed<Desk.State>, _ context: ViewContext) -> ViewNode {
    .column([.text("\(state.count)"), context.child(PanelView(), state, \.panel)])
  }
}

private struct PanelView: View {
  static let name = "PanelView"
  func body(_ state: Observed<Desk.Panel>, _ context: ViewContext) -> ViewNode {
    .text(state.title)
  }
}

/// Thresholds about a part of a run, and about a percentile over seeds.
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

  @Test func `a threshold ignores turns before the start of its window`() async throws {
    let report = try await plan().run().report
    let turns = try turns(report, "tracked")
    let longest = try #require(turns.first)
    let after = turns.filter { $0.start > longest.start }.map(\.length).max()
    let next = try #require(after)
    // The longest turn counts if the window starts together with the turn, but not if the window
    // starts later.
    #expect(try report.meets("longest >= \(longest.length)ns after \(longest.start)ns for tracked"))
    #expect(try report.meets("longest <= \(next)ns after \(longest.start + 1)ns for tracked"))
    #expect(try report.meets("longest >= \(next)ns after \(longest.start + 1)ns for tracked"))
    // The rush lasts from the eighth second to the twelfth.
    #expect(try report.meets("microhangs > 0 for tracked"))
    #expect(try report.meets("microhangs > 0 after 8s for tracked"))
    #expect(try report.meets("microhangs == 0 after 20s for tracked"))
    let never = #expect(throws: ThresholdProblem.self) { try report.meets("hangs == 0 after 30s") }
    #expect(never?.message == "'after' excludes the whole simulation of 30 s")
  }

  @Test func `a threshold can exclude the costs of views that appear`() async throws {
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

  @Test func `each turn belongs to the window in which it begins, with its whole length`()
    async throws
  {
    let screen = SimulatedScreen<Desk.Action>(
      DeskView(), state: { Desk.State() }, reducer: { (_: SimulatedWorld) -> Desk in Desk() },
      on: { (action: Desk.Action) -> [Desk.Action] in [action] })
    let costs = DeviceProfile.Costs(action: .zero, view: .cost(.zero))
      .action("counted", .milliseconds(300))
      .view("PanelView", .cost(.zero, appearance: .milliseconds(900)))
    // A turn of 300 ms, one of 900 ms for an appearing view, and another one of 300 ms.
    let report = try await screen.simulate(
      [
        .at(.seconds(1), .seconds(3), event: .counted), .at(.seconds(2), event: .opened),
      ], on: [Device("desk", costs: costs)], for: .seconds(5))
    let turns = report.runs[0].longestTurns.filter { $0.length > 0 }
      .sorted { $0.start < $1.start }
    #expect(turns.map(\.length) == [300_000_000, 900_000_000, 300_000_000])
    for text in [
      "hangs == 1", "microhangs == 2", "longest == 900ms",
      "hangs == 0 without appearance", "microhangs == 2 without appearance",
      // Shorter turns are kept even if a longer turn follows that the window excludes.
      "longest == 300ms without appearance",
      "microhangs == 2 after \(turns[0].start)ns", "microhangs == 1 after \(turns[0].start + 1)ns",
      "hangs == 1 after \(turns[1].start)ns", "hangs == 0 after \(turns[1].start + 1)ns",
      "longest == 900ms after \(turns[1].start)ns",
      "longest == 300ms after \(turns[1].start + 1)ns",
      "longest == 300ms without appearance after \(turns[1].start)ns",
      "microhangs == 1 without appearance after \(turns[1].start)ns",
      "microhangs == 1 after \(turns[2].start)ns",
    ] { #expect(try report.meets(text), "\(text)") }
  }

  @Test func `a threshold for one device or variant ignores the other runs`() async throws {
    let report = try await plan().run().report
    let counts = try ["tracked", "ignored"].map {
      try #require(report.run(variant: $0)).microhangs
    }
    try #require(counts[0] != counts[1])
    #expect(try report.meets("microhangs == \(counts[0]) for tracked"))
    #expect(try report.meets("microhangs == \(counts[1]) for ignored"))
    #expect(try !report.meets("microhangs == \(counts[0])"))
  }

  @Test
  func `a missed threshold names the run and its value, and the report starts with the verdict`()
    async throws
  {
    let report = try await plan("microhangs == 0", "hangs >= 0").run().report
    let failure = try #require(report.thresholds.first?.failures.first)
    let run = try #require(report.run(device: failure.device, variant: failure.variant))
    #expect(failure.value == "\(run.microhangs)" && run.microhangs > 0)
    #expect(report.lines[0] == "1 of 2 thresholds not met")
    #expect(
      report.lines[1] == "  ✗ microhangs == 0: \(run.microhangs) in phone x 1.8, tracked")
    #expect(report.lines[2] == "  ✓ hangs >= 0 (0)")
  }

  /// Returns the microhangs of each seed in ascending order.
  private func microhangs(of seeds: [UInt64]) async throws -> [(count: Int, seed: UInt64)] {
    let all = try await plan().sweep(seeds: seeds)
    return all.reports.map { ($0.run(variant: "tracked")?.microhangs ?? 0, $0.seed) }
      .sorted { $0 < $1 }
  }

  @Test func `a percentile over seeds is computed from the figure of each seed`() async throws {
    let seeds = Array(1...40 as ClosedRange<UInt64>)
    let found = try await microhangs(of: seeds)
    /// Returns the first entry that at least the given percentage of seeds does not exceed.
    func at(_ percentile: Int) throws -> (count: Int, seed: UInt64) {
      let index = try #require(found.indices.first { 100 * ($0 + 1) >= 40 * percentile })
      return found[index]
    }
    // The highest percentile whose value differs from the maximum.
    let high = try #require((3...97).last { try at($0).count < found[39].count })
    let limit = try at(high).count
    let sweep = try await plan(
      "p\(high)(microhangs) <= \(limit)", "p\(high)(microhangs) < \(limit) for tracked",
      "microhangs <= \(limit) for tracked"
    ).sweep(seeds: seeds)
    #expect(sweep.thresholds.map(\.passed) == [true, false, false])
    let share = try #require(sweep.thresholds[1].failures.first)
    let decisive = try at(high).seed
    #expect(share.value == "\(limit)" && share.seed == decisive)
    #expect(share.failedSeeds == found.count { $0.count >= limit })
    let worst = try #require(sweep.thresholds[2].failures.first)
    let failed = found.count { $0.count > limit }
    #expect(worst.value == "\(found[39].count)" && worst.seeds == 40)
    #expect(worst.failedSeeds == failed && worst.description.hasSuffix("(\(failed) of 40 seeds)"))
    #expect(sweep.lines[0] == "2 of 3 thresholds not met")

    // Every percentile is exact, including those that are not a whole number of seeds.
    let each = try (3...97).flatMap { percentile in
      let count = try at(percentile).count
      return [
        try Threshold("p\(percentile)(microhangs) <= \(count) for tracked"),
        try Threshold("p\(percentile)(microhangs) >= \(count) for tracked"),
      ]
    }
    var exact = try plan()
    exact.thresholds = each
    let missed = try await exact.sweep(seeds: seeds).thresholds.filter { !$0.passed }
    #expect(missed.map(\.text) == [])
  }

  @Test func `the worst seed has the figure furthest beyond the threshold`() async throws {
    let seeds = Array(1...40 as ClosedRange<UInt64>)
    let found = try await microhangs(of: seeds)
    let (fewest, most) = (found[0].count, found[39].count)
    try #require(fewest < most)
    let sweep = try await plan(
      "microhangs > \(most) for tracked", "microhangs < \(fewest) for tracked",
      "microhangs == \(fewest) for tracked", "microhangs != \(fewest) for tracked"
    ).sweep(seeds: seeds)
    #expect(
      sweep.thresholds.map { $0.failures.first?.value }
        == [fewest, most, most, fewest].map { "\($0)" })
  }

  @Test(arguments: [
    ("hangs == 0 afer 5s", "'afer' is not understood; did you mean 'after'?"),
    ("hangs == 0 without apearance", "did you mean 'without appearance'?"),
    ("hangs == 0 after soon", "expected a time"),
    ("hangs == 0 after 5s after 6s", "has 'after' twice"),
    ("frames > 3 after 5s", "hangs, microhangs, turns.over, and longest"),
    ("p100(hangs) == 0", "percentiles must be from p1 to p99"),
    ("p95(hags) == 0", "there is no metric 'hags'; did you mean 'hangs'?"),
  ])
  func `the error for a mistake in a threshold suggests a correction`(text: String, message: String)
  {
    let problem = #expect(throws: ThresholdProblem.self) { _ = try Threshold(text) }
    #expect(problem?.message.contains(message) == true, "\(problem?.message ?? "")")
  }

  @Test func `a search bisects the slowdown above which a screen hangs`() async throws {
    var plan = try plan()
    plan.variants.removeLast()
    let condition = try Threshold("hangs > 0")
    // Includes slowdowns at which the device falls so far behind that a run would end with an
    // error.
    var limited = plan
    limited.limits.waiting = 0
    let found = try await limited.findSlowdown(where: condition, in: 0.5...64)
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

  @Test func `the condition of a search must fit the screen and may apply to one variant`()
    async throws
  {
    let plan = try plan()
    let found = try await plan.findSlowdown(
      where: try Threshold("microhangs >= 0 for ignored"), in: 1...2)
    #expect(found.map(\.variant) == ["ignored"])
    for (text, message) in [
      (
        "view(CheckoutVew).mean > 1ms",
        "there is no view 'CheckoutVew'; did you mean 'CheckoutView'?"
      ),
      ("effect(bnk).failed > 0", "there is no effect 'bnk'; did you mean 'bank'?"),
      ("hangs > 0 for ignord", "there is no variant or device 'ignord'; did you mean 'ignored'?"),
      ("hangs > 0 after 1m", "'after' excludes the whole simulation of 30 s"),
    ] {
      let problem = await #expect(throws: SimulationProblem.self) {
        _ = try await plan.findSlowdown(where: try Threshold(text), in: 1...2)
      }
      #expect(problem?.description == "\(text): \(message)")
    }
  }
}
