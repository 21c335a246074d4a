import BoxOffice
import HangSimulation
import Testing

struct BoxOfficeTests {
  @Test func `a screen of somebody else is simulated`() async throws {
    let report = try await boxOffice.simulate(
      visitors, on: [phone, phone.slowed(by: 2)], for: .seconds(20), seed: 7)
    let run = try #require(report.run(device: "phone"))
    #expect(run.events.received > 1_000)
    #expect(run.events.coalesced > 500)
    let hall = try #require(run.effects.first)
    #expect(hall.name == "hall" && hall.failed > 0)
    #expect(run[QueueView.self]?.evaluations ?? 0 > 100)
    // The list has no limit: it takes longer and longer.
    #expect(try report.meets("longest > 250ms") && report.microhangs > 0)
    #expect(report.worstTurn?.turn.view == "QueueView")
    #expect(report.worstTurn?.turn.viewTrigger?.action == "queue.came")
    #expect(throws: ThresholdProblem.self) { try report.meets("view(QueueVew).mean < 2ms") }
  }
}
