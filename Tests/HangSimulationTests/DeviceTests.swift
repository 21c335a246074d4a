import CheckoutScreen
import HangSimulation
import Testing

/// Devices that users of the library define: with costs from traces, with conditions, and in files.
struct DeviceTests {
  private func trace(_ milliseconds: Double) -> [UInt8] {
    var text = "name,milliseconds\n"
    for _ in 0..<20 { text += "BasketView,\(milliseconds)\n" }
    return Array(text.utf8)
  }

  @Test func `costs measured from traces create a device, and the report counts the traces`()
    async throws
  {
    var plan = SaleScenario.plan(seed: 3)
    let phone = try SaleScenario.phone.calibrated(by: [trace(9)], for: plan)
    #expect(phone.profile.costs.measured == ["BasketView.evaluation"])
    plan.devices = [phone]
    let report = try await plan.run().report
    #expect(report.runs[0].measuredCosts == 1 && report.runs[0].assumedCosts > 5)
    #expect(report.lines.contains { $0.hasPrefix("  1 of ") && $0.contains("costs measured") })
    #expect(report.html.contains("tracked: 1 of "))
    let slow = try SaleScenario.phone.slowed(by: 2).calibrated(by: [trace(9)], for: plan)
    let (one, two) = (phone.profile.costs, slow.profile.costs)
    #expect(one.views["BasketView"]?.evaluation == 9_000_000)
    #expect(two.views["BasketView"]?.evaluation == 4_500_000)
    #expect(throws: CalibrationProblem.self) {
      try SaleScenario.phone.calibrated(by: [Array("name".utf8)], for: plan)
    }
  }

  @Test func `the costs of a device can be marked as measured`() {
    let costs = SaleScenario.phone.profile.costs.action("a", .milliseconds(1), isMeasured: true)
      .view("B", .cost(.milliseconds(1)), isMeasured: true)
    #expect(costs.measured == ["a", "B.evaluation", "B.element", "B.appearance"])
  }

  @Test func `a device's conditions multiply its slowdown`() {
    let phone = Device(
      "phone", slowdown: 2, conditions: ["hot": 1.5, "busy": 2],
      costs: SaleScenario.phone.profile.costs)
    let hot = phone.under("hot")
    #expect(hot.name == "phone+hot" && hot.conditions == ["hot"] && hot.slowdown == 3_000_000)
    #expect(hot.under("busy").slowdown == 6_000_000)
  }

  @Test func `a device written as JSON is read back unchanged`() throws {
    let phone = Device(
      "phone", framesPerSecond: 120, cores: 6, slowdown: 2, conditions: ["hot": 1.5],
      costs: SaleScenario.phone.profile.costs.action(
        "offers.sold", .microseconds(7), isMeasured: true)
    ).under("hot")
    var costs = phone.profile.costs
    costs.actionFields = ["offers.sold": ["stock": 5]]
    costs.views["BasketView"]?.fields = ["amounts": 7]
    let grown = Device("grown", costs: costs)
    #expect(try Device(json: Array(grown.json.utf8)).profile.costs == costs)
    let read = try Device(json: Array(phone.json.utf8))
    #expect(read.profile.costs == phone.profile.costs && read.slowdown == phone.slowdown)
    #expect(read.name == "phone+hot" && read.json == phone.json)
    #expect(read.profile.refreshRate == 120 && read.profile.cores == 6)
  }

  @Test(arguments: [
    ("{", "is not valid JSON"), ("{}", "'name' or 'costs' is missing"),
    (#"{"name":"a","costs":{},"cores":0}"#, "'cores' must be a number from 1"),
    (
      #"{"name":"a","costs":{"action":"1ms"}}"#,
      "the cost 'action' must be a number of nanoseconds"
    ),
  ])
  func `a file that is not a device is rejected`(text: String, message: String) {
    let problem = #expect(throws: SimulationProblem.self) { try Device(json: Array(text.utf8)) }
    #expect(problem?.description.contains(message) == true, "\(problem?.description ?? "")")
  }

  @Test func `a table of costs with a byte order mark is read`() throws {
    let bytes = [0xEF, 0xBB, 0xBF] + trace(9)
    #expect(try MeasuredTrace(bytes).names == ["BasketView"])
  }
}
