import HangDetection
import HangSimulation
import Testing

/// The short form of the hang detection benchmark. `hang-detection 20` is the long form.
@Suite(.timeLimit(.minutes(20))) struct HangDetectionTests {
  @Test
  func `planted faults of a screen are found with their causes, and sound screens cause no alarm`()
    async throws
  {
    let score = try await HangDetection.run(seeds: 1...1)
    #expect(score.screens == 30)
    #expect(score.found >= 28, "\(score.lines.joined(separator: "\n"))")
    #expect(score.falseAlarms <= 1, "\(score.lines.joined(separator: "\n"))")
    let hasSameEvents = score.trials.allSatisfy(\.hasSameEvents)
    #expect(hasSameEvents)
  }

  @Test func `findings are counted in the report and are the same in each run`() async throws {
    let fault = try #require(
      HangDetection.faults.first { $0.name == "child-observed-as-whole" })
    let one = try await fault.plan(.faulty, seed: 4).run().report
    let two = try await fault.plan(.faulty, seed: 4).run().report
    #expect(
      one.findings.filter { !$0.kind.isMeasured } == two.findings.filter { !$0.kind.isMeasured })
    let finding = try #require(one.findings.first { $0.subject == "ScreenView" })
    #expect(finding.kind == .overObservation)
    #expect(finding.field == "chat")
    #expect(finding.action == "chat.received")
    #expect(finding.cost >= 10_000_000)
    #expect(one.lines.contains { $0.contains(finding.line) })
    #expect(one.json.contains(#""kind":"overObservation","device":"phone","variant":"faulty""#))
    #expect(one.html.contains("over-observation: ScreenView, field chat"))
  }

  @Test func `a report of a screen without faults has no section about findings`() async throws {
    let fault = try #require(
      HangDetection.faults.first { $0.name == "child-observed-as-whole" })
    let report = try await fault.plan(.sound, seed: 4).run().report
    #expect(report.findings == [])
    #expect(!report.lines.contains { $0.contains("Avoidable work") })
    #expect(report.json.contains(#""findings":[]"#))
  }
}
