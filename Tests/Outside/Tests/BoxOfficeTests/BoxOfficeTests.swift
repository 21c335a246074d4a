import BoxOffice
import HangSimulation
import Testing

struct BoxOfficeTests {
  @Test func `a screen that another package defines can be simulated`() async throws {
    let report = try await boxOffice.simulate(
      visitors, on: [phone, phone.slowed(by: 2)], for: .seconds(20), seed: 7)
    let run = try #require(report.run(device: "phone"))
    #expect(run.events.received > 1_000)
    #expect(run.events.coalesced > 500)
    let hall = try #require(run.effects.first)
    #expect(hall.name == "hall" && hall.failed > 0)
    #expect(run[QueueView.self]?.evaluations ?? 0 > 100)
    // The list has no limit, so its evaluations take longer and longer.
    #expect(try report.meets("longest > 250ms") && report.microhangs > 0)
    #expect(report.worstTurn?.turn.view == "QueueView")
    #expect(report.worstTurn?.turn.viewTrigger?.action == "queue.came")
    #expect(throws: ThresholdProblem.self) { try report.meets("view(QueueVew).mean < 2ms") }
  }

  @Test
  func `costs from a trace create a device, and a threshold can compare with the first variant`()
    async throws
  {
    var plan = try boxOfficePlan()
    let trace = "name,milliseconds\n" + String(repeating: "QueueView,3\n", count: 20)
    plan.devices = [try phone.calibrated(by: [Array(trace.utf8)], for: plan)]
    plan.thresholds = [
      try Threshold("view(QueueView).evaluations <= base * 1.1"),
      try Threshold("turns.over(250ms) <= base"),
    ]
    let report = try await plan.run().report
    #expect(report.isPassed && report.thresholds.allSatisfy(\.passed))
    #expect(report.runs.allSatisfy { $0.measuredCosts == 1 && $0.assumedCosts > 1 })
  }

  @Test func `measured costs are reported next to the assumed costs`()
    async throws
  {
    var plan = try boxOfficePlan()
    plan.devices = [phone]
    plan.measuredRepeats = 2
    plan.thresholds = [
      try Threshold("action(queue.came).growth < 1ms for default"),
      try Threshold("longest <= base"),
    ]
    let report = try await plan.run().report
    #expect(report.isPassed && report.thresholds.allSatisfy(\.passed))
    #expect(report.measured.map(\.variant) == ["default", "fewer"])
    for measured in report.measured {
      #expect(measured.runs.count == 2)
      let longest = try #require(measured.interval(\.longest))
      // The platform's share comes from the device's costs: two views appear.
      #expect(longest.least >= 20_000_000 && longest.least <= longest.most)
    }
  }
}
