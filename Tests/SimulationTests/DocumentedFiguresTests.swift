import Foundation
import HangSimulation
import Simulation
import Testing

/// The figures quoted in the README and the articles match the simulator's results.
@Suite struct DocumentedFiguresTests {
  private static let documentation = "Sources/Simulation/Simulation/Simulation.docc"
  private static let reports = Task {
    var options = SimulationOptions(path: HostScreenScenarioTests.path)
    let text = String(
      decoding: ScenarioFiles.disk.read(options.path) ?? [], as: UTF8.self)
    let whole = try await simulate(scenarioText: text, options: options).report
    // The guide starts with a single variant.
    options.variants = ["tracked"]
    return [whole, try await simulate(scenarioText: text, options: options).report]
  }

  private func text(_ file: String) throws -> String {
    try String(contentsOfFile: "\(packageRoot)/\(file)", encoding: .utf8)
  }

  private func words(_ line: some StringProtocol) -> String {
    line.split(separator: " ").joined(separator: " ")
  }

  @Test(arguments: [("README.md", 5), ("\(documentation)/FindingAHang.md", 12)])
  func `each quoted excerpt of a report matches the report`(file: String, count: Int) async throws {
    let reports = try await Self.reports.value
    let reported = Set(reports.flatMap(\.lines).map(words))
    let names = Set(reports[0].runs.flatMap { RunMetrics($0).metrics.map(\.name) })
    let blocks = try text(file).split(separator: "\n\n").filter {
      $0.hasPrefix("    ") && $0.contains("HostView")
    }
    let rows = blocks.flatMap { $0.split(separator: "\n") }.map(words).filter { line in
      names.contains { line.hasPrefix($0 + " ") } || line.contains(" x ownRead")
        || line.contains("times as slow")
    }
    #expect(rows.count == count)
    let isMissing = rows.filter { !reported.contains($0) }
    #expect(isMissing == [])
  }

  /// The cells of the tables in the article about the four conditions, without headings.
  private func cells() throws -> [[String]] {
    try text("\(Self.documentation)/TheFourConditions.md").split(separator: "\n")
      .filter { $0.hasPrefix("| ") }
      .map { line in line.split(separator: "|").map { words($0) }.filter { !$0.isEmpty } }
  }

  @Test func `the article's counts of microhangs and hangs match the simulation`() async throws {
    let report = try await Self.reports.value[0]
    for (index, device) in HostScreenScenarioTests.conditions.enumerated() {
      let row = try #require(try cells().first { $0[0] == "\(index + 1). \(device)" })
      #expect(
        row[1]
          == "\(HostScreenScenarioTests.microhangs[index]), \(HostScreenScenarioTests.hangs[index])"
      )
      for (column, variant) in ["tracked", "ignored"].enumerated() {
        let run = try #require(
          report.runs.first { $0.device == device && $0.variant == variant })
        #expect(row[2 + column] == "\(run.microhangs), \(run.hangs)", "\(device), \(variant)")
      }
    }
  }

  @Test func `the mean evaluation times that the article states match the simulation`() async throws
  {
    let report = try await Self.reports.value[0]
    func mean(_ device: String, _ variant: String) throws -> Int64 {
      let run = try #require(report.runs.first { $0.device == device && $0.variant == variant })
      return try #require(run.views.first { $0.name == "HostView" }).mean
    }
    /// Formats tenths with one decimal.
    func tenths(_ number: Int64) -> String {
      "\(number < 0 ? "-" : "")\(number.magnitude / 10).\(number.magnitude % 10)"
    }
    for (index, device) in HostScreenScenarioTests.conditions.enumerated() {
      let row = try #require(try cells().first { $0[0] == "\(index + 1)" })
      let (before, after) = (try mean(device, "tracked"), try mean(device, "ignored"))
      #expect(row[1] == "\(tenths((before + 50_000) / 100_000)) ms")
      #expect(row[2] == "\(tenths((after + 50_000) / 100_000)) ms")
      #expect(row[3] == "\(tenths(((after - before) * 2_000 - before) / (2 * before))) %")
    }
  }
}
