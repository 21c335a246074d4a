import Foundation
import HangSimulation
import JSON
import Testing

/// Costs that are measured during the simulation.
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

  @Test func `a turn with measured costs takes the real time multiplied by the device's slowdown`()
    async throws
  {
    let report = try await plan(repeats: 3).run().report
    #expect(report.measured.map(\.device) == ["phone", "slow"])
    let phone = try #require(report.measured[0].interval { $0[RowsView.self]?.max ?? 0 })
    let slow = try #require(report.measured[1].interval { $0[RowsView.self]?.max ?? 0 })
    // There are 51 rows.
    #expect(phone.least >= 5_000_000)
    #expect(slow.least >= 20_000_000)
    #expect(phone.least <= phone.median && phone.median <= phone.most)
    // The cost of the appearance is not measured; it is the cost that the device assumes.
    #expect(report.measured[0].runs.allSatisfy { $0.longestTurns[0].appearanceCost == 50_000_000 })
  }

  @Test func `measured costs are reported in addition to the unchanged assumed costs`() async throws
  {
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

  @Test func `a sweep shows the measured figures of all seeds beside the assumed figures`()
    async throws
  {
    let report = try await plan(repeats: 1).sweep(seeds: [1, 2, 3])
    let without = try await plan(repeats: 0).sweep(seeds: [1, 2, 3])
    #expect(report == without)
    #expect(report.lines.count { $0.hasSuffix("measured: median (minimum to maximum)") } == 2)
    #expect(without.lines.allSatisfy { !$0.contains("measured:") })
    let json = try JSONValue(parsing: report.json)
    let slow = json["runs"]?.arrayValue?.last?["metrics"]?["longest"]?["measured"]?.arrayValue
    let times = try #require(slow).map { Double(($0.stringValue ?? "").dropLast(2)) ?? 0 }
    // The turn contains 51 rows of 0.1 ms each, and the appearance.
    #expect(times.count == 3 && times == times.sorted() && times[0] >= 20)
    #expect(report.html.contains("With costs measured on this machine"))
  }

  @Test func `the progress of a simulation includes its repetitions`() async throws {
    var percents: [Int] = []
    _ = try await plan(repeats: 1).run { percents.append($0) }
    #expect(percents == percents.sorted() && percents.last == 100)
    // Each of the two devices runs twice.
    #expect(percents.contains(25) && percents.contains(75))
  }

  @Test func `calibrating on this machine measures how work grows with a collection`() throws {
    let found = try plan(repeats: 0).calibratedHere(now: {
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return UInt64(time.tv_sec * 1_000_000_000 + time.tv_nsec)
    })
    let rows = try #require(found.calibration.items.first { $0.name == "RowsView" })
    let perRow = try #require(rows.fields["rows"])
    #expect(rows.fields.count == 1)
    #expect((75_000...125_000).contains(perRow), "\(perRow)")
    #expect(rows.rise == nil)
    // The cost of an action does not depend on the number of rows.
    #expect(found.calibration.items.first { $0.name == "added" }?.fields.isEmpty == true)
    #expect(found.lines.contains { $0.contains("RowsView: ") && $0.contains("element of rows") })
    // The median frame of the further run takes the predicted time.
    let ratios = found.frames.map { Double($0.measured) / Double($0.simulated) }.sorted()
    #expect((0.8...1.25).contains(ratios[ratios.count / 2]), "\(ratios)")
  }
}
