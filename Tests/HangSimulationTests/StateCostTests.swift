import HangSimulation
import Testing

/// Costs that depend on the number of elements in the state.
@Suite(.timeLimit(.minutes(5))) struct StateCostTests {
  private func report(
    _ costs: DeviceProfile.Costs, rows: [Int] = [], slowdown: Double = 1
  ) async throws -> SimulationReport {
    let screen = SimulatedScreen<Rows.Action>(
      RowsView(), state: { Rows.State(rows: rows) },
      reducer: { (_: SimulatedWorld) in Rows() }, on: { (action: Rows.Action) in [action] })
    return try await screen.simulate(
      [
        .every(.milliseconds(100), from: .milliseconds(100), until: .milliseconds(1_050)) { _ in
          .added(1)
        },
        .at(.seconds(2), event: .ticked),
      ], on: [Device("phone", slowdown: slowdown, costs: costs)], for: .seconds(3))
  }

  private let view = DeviceProfile.ViewCost.cost(.milliseconds(1))

  @Test func `the cost of a view can grow with each element of a collection`() async throws {
    let costs = DeviceProfile.Costs(action: .zero, view: .cost(.zero))
      .view(RowsView.self, view.per("rows", .milliseconds(2)))
    let report = try await report(costs)
    // The state has ten rows at the end.
    #expect(report.runs[0][RowsView.self]?.max == 21_000_000)
    #expect(report.runs[0].longest == 21_000_000)
    let slow = try await self.report(costs, slowdown: 1.5)
    #expect(slow.runs[0].longest == 31_500_000)
  }

  @Test func `the cost of the first frame includes the sizes of the initial state`() async throws {
    let costs = DeviceProfile.Costs(action: .zero, view: view.per("rows", .milliseconds(1)))
      .view(RowsView.self, view.per("rows", .milliseconds(1)))
    let report = try await report(costs, rows: Array(0..<100))
    #expect(report.runs[0].timeline[0] == 101_000_000)
  }

  @Test func `the cost of an action can grow with each element of a collection`() async throws {
    let costs = DeviceProfile.Costs(action: .milliseconds(1), view: .cost(.zero))
      .action("ticked", per: "rows", .milliseconds(30))
    let report = try await report(costs)
    let turn = try #require(report.worstTurn?.turn)
    #expect(turn.start == 2_000_000_000)
    #expect(turn.action == "ticked")
    #expect(turn.length == 301_000_000)
    #expect(report.microhangs == 1)
  }

  @Test func `a cost that names an unknown collection is an error with a suggestion`()
    async throws
  {
    let costs = DeviceProfile.Costs(action: .zero, view: .cost(.zero))
      .view(RowsView.self, view.per("rovs", .milliseconds(2)))
    let problem = await #expect(throws: SimulationProblem.self) { try await report(costs) }
    let text = try #require(problem?.description)
    #expect(text.contains("costs depend on 'rovs', which is not a collection of the state"))
    #expect(text.contains("did you mean 'rows'?"))
  }
}
