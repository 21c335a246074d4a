import CheckoutScreen
import Composable
import HangSimulation
import Testing
import ViewGraph

/// Gates must be able to fail: nothing passes without data, counts include worse turns, and figures
/// have units.
struct GateTests {
  private func plan(_ thresholds: String...) throws -> SimulationPlan {
    try SaleScenario.plan(seed: 3, thresholds: thresholds.map { try Threshold($0) })
  }

  // MARK: Without data

  @Test func `a threshold for a device that was not simulated is reported as skipped`() async throws
  {
    var plan = try plan("hangs == 0 for phone", "frames > 0")
    plan.leftOut = ["phone"]
    plan.devices.removeFirst()
    let report = try await plan.run().report
    let skipped = report.thresholds[0]
    #expect(!skipped.passed && !skipped.isMissed && report.isPassed)
    #expect(skipped.line == "  - hangs == 0 for phone: skipped, no run of phone was selected")
    #expect(report.lines[0] == "1 of 2 thresholds met, 1 skipped")
    #expect(report.json.contains(#""passed":false,"skipped":"no run of phone was selected""#))
    #expect(report.html.contains("<td>skipped, no run of phone was selected</td>"))
    plan.thresholds.removeLast()
    let alone = try await plan.run().report
    #expect(alone.verdict == "No threshold was checked: 1 skipped")
    #expect(alone.html.contains("<p class=\"verdict\">"))
  }

  /// Simulates a screen on which one view never appears and one effect is never started.
  private func quiet(_ thresholds: String...) async throws -> SimulationReport {
    let variant = SaleScenario.screen().variant("quiet", events: [])
    return try await SimulationPlan(
      "quiet", duration: .seconds(2), devices: [SaleScenario.phone], variants: [variant],
      thresholds: thresholds.map { try Threshold($0) }
    ).run().report
  }

  @Test(arguments: [
    ("effect(bank).answered.p95 < 1s", "no bank was started"),
    ("effect(bank).failed == 0", "no bank was started"),
    ("latency.p99 < 100ms", "no event arrived"),
    ("events.rejected == 0", "no event arrived"),
    ("hangs == 0 after 1s", "no turn began after 1 s"),
  ])
  func `a threshold on something that never happened is not met`(
    text: String, reason: String
  ) async throws {
    let report = try await quiet(text)
    #expect(!report.isPassed)
    #expect(
      report.thresholds[0].line == "  ✗ \(text): nothing to check (\(reason)) in phone, quiet")
    let problem = #expect(throws: ThresholdProblem.self) { try report.meets(text) }
    #expect(problem?.message == "nothing to check (\(reason))")
  }

  @Test
  func `runs in which a view never appeared are listed next to runs with data`()
    async throws
  {
    let hidden = SimulatedScreen<Int>(
      DeskView(), state: { Desk.State() }, reducer: { (_: SimulatedWorld) in Desk() },
      on: { (_: Int) in [.opened] })
    let device = Device(
      "d", costs: DeviceProfile.Costs(action: .zero, view: .cost(.milliseconds(1))))
    var plan = SimulationPlan(
      "hidden", duration: .seconds(2), devices: [device],
      variants: [
        hidden.variant("closed", events: []),
        hidden.variant("open", events: [.at(.seconds(1), event: 0)]),
      ], thresholds: [try Threshold("view(PanelView).evaluations == 0")])
    let both = try await plan.run().report.thresholds[0]
    #expect(both.isMissed && both.failures.map(\.variant) == ["open"])
    #expect(both.withoutData.map(\.variant) == ["closed"])
    plan.thresholds = [try Threshold("view(PanelView).mean < 5ms")]
    let met = try await plan.run().report.thresholds[0]
    #expect(
      met.line
        == "  ✓ view(PanelView).mean < 5ms (1.000ms; nothing to check (PanelView never appeared) in d, closed)"
    )
    plan.thresholds = [try Threshold("view(PanelView).evaluations == 0 for closed")]
    #expect(try await plan.run().report.thresholds[0].isMissed)
  }

  @Test func `a percentile over seeds needs enough seeds, and is skipped for a single seed`()
    async throws
  {
    var plan = try plan("p95(microhangs) < 1000")
    plan.devices.removeFirst()
    let one = try await plan.run().report.thresholds[0]
    #expect(one.skipped == "p95 needs 20 seeds; 'sweep' runs several" && !one.passed)
    let few = try await plan.sweep(seeds: Array(1...3)).thresholds[0]
    #expect(few.isMissed && few.line.contains("p95 needs 20 seeds; only 3 have data"))
    plan.thresholds = [try Threshold("p50(microhangs) < 1000")]
    #expect(try await plan.sweep(seeds: [1, 2]).thresholds[0].passed)
    let search = await #expect(throws: SimulationProblem.self) {
      try await plan.findSlowdown(where: Threshold("p95(hangs) > 0"), in: 1...2)
    }
    #expect(search?.description.contains("p95 needs 20 seeds") == true)
  }

  // MARK: Metrics

  /// Simulates one turn each of 100, 300, 600 and 800 ms. The last two are hangs.
  private func four() async throws -> SimulationReport {
    let costs = DeviceProfile.Costs(
      action: .milliseconds(100), element: .milliseconds(1), view: .cost(.zero))
    let counting = SimulatedScreen<Int>(
      DeskView(), state: { Desk.State() },
      elements: { (action: Desk.Action) in
        if case .counted(let number) = action { number } else { 0 }
      }, reducer: { (_: SimulatedWorld) in Desk() },
      on: { (number: Int) in [.counted(number)] })
    return try await counting.simulate(
      [
        .at(.seconds(1), event: 0), .at(.seconds(2), event: 200), .at(.seconds(4), event: 500),
        .at(.seconds(6), event: 700),
      ], on: [Device("d", costs: costs)], for: .seconds(10))
  }

  @Test(arguments: [
    "microhangs == 1", "hangs == 2", "turns.over(250ms) == 3", "turns.over(600ms) == 2",
    "turns.over(100ms) == 4", "turns.over(101ms) == 3", "turns.over(0.7s) == 1",
    "turns.over(250ms) == 2 after 3s", "frames.frozen == 1 ", "busy == 18%", "busy < 18.1%",
    "turns.over(250ms) == 1 after 5s for d, default",
  ])
  func `the number of turns above a bound includes turns of worse classes`(text: String)
    async throws
  {
    #expect(try await four().meets(text), "\(text)")
  }

  @Test func `a threshold on all turns over a bound does not become easier as a screen gets worse`()
    async throws
  {
    var plan = try plan("turns.over(250ms) < 3", "microhangs < 3")
    (plan.devices, plan.variants) = ([SaleScenario.phone.slowed(by: 60)], [plan.variants[1]])
    plan.limits = .none
    let report = try await plan.run().report
    // All long turns are now hangs, so the exclusive gate passes.
    #expect(report.runs[0].hangs > 3)
    #expect(report.thresholds.map(\.passed) == [false, true])
  }

  @Test func `the percentiles of frames include frozen frames`() async throws {
    let report = try await four()
    let run = try #require(report.runs.first)
    #expect(run.frozenFrames == 1 && run.frame.max >= 0 && run.frame.count == run.frames)
    #expect(try report.meets("frame.max >= 0ms") && report.meets("frame.p50 <= 800ms"))
    #expect(report.json.contains(#""frozenFrames":1"#))
  }

  // MARK: Syntax

  @Test(arguments: [
    ("hangs == 0.5", "'0.5' is not a whole number; this metric is a count"),
    (
      "hitch < 10ms",
      "'10ms' is not a time per second; did you mean '10ms/s'?"
    ),
    ("hitch < 10", "'10' is not a time per second, such as 5ms/s"),
    ("busy < 80", "'80' is not a percentage; this metric needs 0% to 100%"),
    (
      "hangs == 0 for",
      "'for' needs a device, a variant, or both, such as 'for iphone-15-plus, tracked'"
    ),
    ("hangs == 0 after", "'after ': expected a time, such as 'after 5s'"),
    ("hangs == 0 fo phone", "'fo' is not understood; did you mean 'for'?"),
    ("turns.over(5) == 0", "'turns.over(5)': expected a time, such as 'turns.over(250ms)'"),
    ("turns.over(5us) == 0", "'turns.over(5us)': the length must be at least 1ms"),
    ("microhangs <= base * x", "'base * x': expected a factor, such as 'base * 1.1'"),
    ("longest <= base + 5", "'5' is not a time; did you mean '5ms'?"),
    (
      "microhangs <= bases",
      "'bases' is not understood; write 'base', 'base * 1.1', or 'base * 1.1 + 2'"
    ),
    (
      "growth(QueueView) < 5us",
      "there is no metric 'growth(QueueView)'; write view(QueueView).growth or action(QueueView).growth"
    ),
    ("action(ticked).mean < 5us", "an action has no metric 'mean'; use one of growth"),
    ("frames.frozn == 0", "there is no metric 'frames.frozn'; did you mean 'frames.frozen'?"),
  ])
  func `errors in units, values and clauses of a threshold suggest a correction`(
    text: String, message: String
  ) {
    let problem = #expect(throws: ThresholdProblem.self) { _ = try Threshold(text) }
    #expect(problem?.message == message)
  }

  @Test func `a threshold can apply to a device and a variant together`() async throws {
    let report = try await plan().run().report
    let counts = try [("phone x 1.8", "tracked"), ("phone x 1.8", "ignored")].map {
      try #require(report.run(device: $0, variant: $1)).microhangs
    }
    try #require(counts[0] != counts[1])
    for scope in ["phone x 1.8, tracked", "tracked, phone x 1.8"] {
      #expect(try report.meets("microhangs == \(counts[0]) for \(scope)"))
      #expect(try !report.meets("microhangs == \(counts[1]) for \(scope)"))
    }
    for (scope, message) in [
      ("tracked, ignored", "'tracked' and 'ignored' are both variants; no run has both"),
      ("phone, trackd", "there is no variant or device 'trackd'; did you mean 'tracked'?"),
    ] {
      let problem = await #expect(throws: SimulationProblem.self) {
        _ = try await plan("hangs == 0 for \(scope)").run()
      }
      #expect(problem?.description == "hangs == 0 for \(scope): \(message)")
    }
  }

  // MARK: Other gates

  @Test
  func `a threshold for a time after the end is an error, unless the run was shortened on purpose`()
    async throws
  {
    var plan = try plan()
    plan.duration = .seconds(26)
    let problem = await #expect(throws: SimulationProblem.self) {
      _ = try await plan.run()
    }
    #expect(
      problem?.description
        == "the variant 'tracked' has an event at 27 s, after the end of the simulation at 26 s")
  }

  @Test func `a search finds the load at which a screen hangs`() async throws {
    var plan = try plan()
    plan.devices.removeFirst()
    plan.variants.removeLast()
    let found = try await plan.findLoad(where: Threshold("busy > 80%"), in: 0.5...8)
    let search = try #require(found.first)
    let (from, not) = (try #require(search.holdsFrom), try #require(search.holdsNotAt))
    #expect(not < from && from / not <= 1.01)
    #expect(search.line.contains(" x the load, not at "))
    #expect(found.json.hasPrefix(#"{"loads":[{"device":"phone x 1.8","variant":"tracked""#))
    plan.limits = .none
    for (factor, holds) in [(from, true), (not, false)] {
      plan.load = Int64((factor * 1e6).rounded())
      let report = try await plan.run().report
      #expect(try report.meets("busy > 80%") == holds)
    }
  }
}

/// A feature that counts, and opens a panel.
@Reducer
private struct Desk {
  @ObservableState
  struct State: Equatable, Sendable {
    var count: Int = 0
    @ObservationStateIgnored var panel: Panel? = nil
  }

  @ObservableState
  struct Panel: Equatable, Sendable { var title: String = "panel" }

  enum Action: Sendable { case counted(Int), opened }

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
