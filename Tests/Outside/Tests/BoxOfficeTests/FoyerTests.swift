import BoxOffice
import HangSimulation
import Testing

/// Views of the elements of a collection and of the cases of an enum, in a simulation.
struct FoyerTests {
  /// Starts after the first frame, in which 200 desks appear within 2.5 s on the phone.
  private let day: [EventStream<Foyer.Action>] = [
    .at(.seconds(4), .seconds(5), .seconds(6), event: .served(desk: 4)),
    .at(.seconds(7), event: .opened),
    .at(.seconds(8), .seconds(9), event: .crowd(.entered)),
  ]

  @Test func `a change of one desk evaluates only that desk`() async throws {
    let report = try await foyer(desks: 200).simulate(day, on: [phone], for: .seconds(10))
    let run = try #require(report.run(device: "phone"))
    #expect(run.actions == 6)
    #expect(run[DeskView.self]?.evaluations == 200 + 3)
    #expect(run[DeskView.self]?.causes.contains { $0.action == "served" && $0.count == 3 } == true)
    // Opening the doors replaces one view, and people who enter change only the new view.
    #expect(run[FoyerView.self]?.evaluations == 1 + 1)
    #expect(run[NoticeView.self]?.evaluations == 1)
    #expect(run[CrowdView.self]?.evaluations == 1 + 2)
  }

  @Test func `a foyer that is observed as a whole evaluates all desks each time, and hangs`()
    async throws
  {
    let report = try await foyer(desks: 200, ignoring: []).simulate(
      day, on: [phone], for: .seconds(10))
    let run = try #require(report.run(device: "phone"))
    #expect(run[DeskView.self]?.evaluations == 200 * (1 + 6))
    #expect(run[FoyerView.self]?.evaluations == 1 + 6)
    // Each evaluation of 200 desks takes 2 ms or more.
    #expect(report.hangs + report.microhangs == 7)
  }
}
