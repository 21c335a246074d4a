import HangSimulation
import Testing

/// Costs that are measured while the simulation runs.
@Suite(.timeLimit(.minutes(5))) struct MeasuredCostTests {
  private func plan(repeats: Int) -> SimulationPlan {
    let screen = SimulatedScreen<Rows.Action>(
      RowsView(), state: { Rows.State(work: Rows.Work(inView: 100_000)) },
      reducer: { (_: SimulatedWorld) in Rows() }, on: { (action: Rows.Action) in [action] })
    let costs = DeviceProfile.Costs(
      action: .microseconds(10), view: .cost(.milliseconds(1), appearance: .milliseconds(50)))
    var plan = SimulationPlan(
      "measured", duration: .seconds(5),
      devices: [Device("phone", costs: costs), Device("slow", slowdown: 4, costs: costs)],
      variants: [screen.variant("default", events: [.every(.milliseconds(100)) { _ in .added(1) }])]
    )
    plan.measuredRepeats = repeats
    return plan
  }

  @Test func `turns last as long as the real code, times the slowdown of the device`() async throws
  {
    let report = try await plan(repeats: 3).run().report
    #expect(report.measured.map(\.device) == ["phone", "slow"])
    let phone = try #require(report.measured[0].interval { $0[RowsView.self]?.max ?? 0 })
    let slow = try #require(report.measured[1].interval { $0[RowsView.self]?.max ?? 0 })
    // 51 rows.
    #expect(phone.least >= 5_000_000)
    #expect(slow.least >= 20_000_000)
    #expect(phone.least <= phone.median && phone.median <= phone.most)
    // The platform's share is that of the device.
    #expect(report.measured[0].runs.allSatisfy { $0.longestTurns[0].appearanceCost == 50_000_000 })
  }

  @Test func `assumed costs stand beside them and do not change`() async throws {
    let without = try await plan(repeats: 0).run().report
    let report = try await plan(repeats: 2).run().report
    #expect(report == without)
    #expect(report.digest == without.digest)
    #expect(without.measured.isEmpty)
    #expect(
      report.lines.contains { $0.contains("default, assumed") && $0.contains("measured, 2 times") })
    #expect(
      report.json.contains(#""measured":[{"device":"phone","variant":"default","repeats":2,"#))
    #expect(report.html.contains("With costs measured on this machine"))
  }
}
