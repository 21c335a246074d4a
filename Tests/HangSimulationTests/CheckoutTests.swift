import CheckoutScreen
import HangSimulation
import Testing
import ViewGraph

/// The example screen: the simulation finds a planted hang, and proves the correction.
struct CheckoutTests {
  @Test func `a checkout that observes its children as a whole hangs during a sale`() async throws {
    let report = try await SaleScenario.plan(seed: 3).run().report
    let tracked = try #require(report.run(device: "phone x 1.8", variant: "tracked"))
    #expect(tracked.microhangs > 5)
    let turn = try #require(tracked.longestTurns.first { $0.viewTrigger?.field == "offers" })
    #expect(turn.view == "BasketView")
    #expect(turn.viewTrigger?.action == "offers.sold")
    let basket = try #require(tracked[BasketView.self])
    #expect(basket.avoidable > basket.evaluations / 2)
  }

  @Test func `the corrected checkout does not hang and shows the same content`() async throws {
    let thresholds = [
      "microhangs == 0 for ignored", "view(BasketView).avoidable == 0 for ignored",
      "effect(bank).answered.max < 510ms", "hangs == 0",
    ]
    let plan = SaleScenario.plan(seed: 3, thresholds: try thresholds.map { try Threshold($0) })
    let report = try await plan.run().report
    #expect(report.isPassed, "\(report.thresholds.map(\.line))")
    for device in report.devices {
      let runs = report.runs.filter { $0.device == device }
      #expect(Set(runs.map(\.events.received)).count == 1)
      #expect(runs.allSatisfy { $0.events.received == $0.events.applied })
    }
  }

  @Test
  func `equal plans give equal reports and traces, and another seed gives a different report`()
    async throws
  {
    let one = try await SaleScenario.plan(seed: 5).run(wantsTrace: true)
    let two = try await SaleScenario.plan(seed: 5).run(wantsTrace: true)
    #expect(one.report.json == two.report.json)
    #expect(one.trace == two.trace)
    #expect(one.report.html == two.report.html)
    let other = try await SaleScenario.plan(seed: 6).run().report
    #expect(other.digest != one.report.digest)
  }
}
