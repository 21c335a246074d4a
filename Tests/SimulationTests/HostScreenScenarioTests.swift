import HangSimulation
import Simulation
import Testing

/// The scenario that follows the table of a published analysis: four conditions, before and after a
/// change.
@Suite struct HostScreenScenarioTests {
  static let path = "\(packageRoot)/config/scenarios/host-screen.yaml"
  static let conditions = [
    "iphone-15-plus", "iphone-13-mini+game", "iphone-13-mini+low-power",
    "iphone-13-mini+low-power+game+recording",
  ]
  static let microhangs = [1, 6, 36, 46]
  static let hangs = [0, 1, 2, 2]

  private func text() throws -> String {
    let bytes = try #require(ScenarioFiles.disk.read(Self.path))
    return String(decoding: bytes, as: UTF8.self)
  }

  private func report(
    seed: UInt64? = nil, _ change: (String) -> String = { $0 }
  ) async throws -> SimulationReport {
    var options = SimulationOptions(path: Self.path)
    options.seed = seed
    return try await simulate(scenarioText: change(try text()), options: options).report
  }

  private func run(
    _ report: SimulationReport, _ condition: Int, _ variant: String
  ) throws -> RunReport {
    try #require(
      report.runs.first { $0.device == Self.conditions[condition] && $0.variant == variant })
  }

  private func hostMean(_ run: RunReport) throws -> ViewReport {
    try #require(run.views.first { $0.name == "HostView" })
  }

  /// Returns whether `value` is within this percentage of the figure, rounded up.
  private func isNear(_ value: Int, _ figure: Int, percent: Int) -> Bool {
    abs(value - figure) <= (figure * percent + 99) / 100
  }

  @Test func `the tracked variant has as many hangs as the article states in all conditions`()
    async throws
  {
    let report = try await report()
    for condition in Self.conditions.indices {
      let run = try run(report, condition, "tracked")
      #expect(isNear(run.microhangs, Self.microhangs[condition], percent: 10), "\(run.microhangs)")
      #expect(run.hangs == Self.hangs[condition])
    }
  }

  @Test
  func `in the fourth condition, evaluating the tracked host view takes 167 ms on average`()
    async throws
  {
    let mean = try hostMean(try run(try await report(), 3, "tracked")).mean
    #expect(abs(mean - 167_000_000) <= 167_000_000 / 20)
  }

  @Test
  func `ignoring the parts reduces the mean evaluation by nine tenths and microhangs by half`()
    async throws
  {
    let report = try await report()
    for condition in Self.conditions.indices {
      let before = try run(report, condition, "tracked")
      let after = try run(report, condition, "ignored")
      #expect(try hostMean(after).mean * 10 <= hostMean(before).mean)
      #expect(try hostMean(after).evaluations >= 10)
      if before.microhangs > 1 { #expect(after.microhangs * 2 <= before.microhangs) }
      #expect(after.hangs <= before.hangs)
    }
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `the scenario gives similar results with other seeds`(seed: UInt64) async throws {
    let report = try await report(seed: seed)
    for condition in Self.conditions.indices {
      let run = try run(report, condition, "tracked")
      #expect(isNear(run.microhangs, Self.microhangs[condition], percent: 25), "\(run.microhangs)")
      #expect(isNear(run.hangs, Self.hangs[condition], percent: 25), "\(run.hangs)")
    }
  }

  /// Returns whether the conditions are in order of severity, and ignoring the children improves
  /// each.
  private func isOrdered(
    _ report: SimulationReport, tracked: String, ignored: String
  ) throws -> Bool {
    func trouble(_ run: RunReport) -> Int { run.microhangs + run.hangs }
    let before = try Self.conditions.indices.map { try run(report, $0, tracked) }
    let after = try Self.conditions.indices.map { try run(report, $0, ignored) }
    let grows = zip(before, before.dropFirst()).allSatisfy { trouble($0) <= trouble($1) }
    let helps = zip(before, after).allSatisfy { trouble($1) <= trouble($0) }
    let means = try zip(before, after).allSatisfy { try hostMean($1).mean < hostMean($0).mean }
    return grows && helps && means
  }

  @Test func `the ranking of the variants does not depend on their names`() async throws {
    let renamed = try await report {
      $0.replacing("tracked: {", with: "left: {").replacing("ignored: {", with: "right: {")
    }
    #expect(try isOrdered(renamed, tracked: "left", ignored: "right"))
    let swapped = try await report {
      $0.replacing("tracked: {host.children: tracked}", with: "ignored: {host.children: tracked}")
        .replacing(
          "  ignored: {host.children: ignored}", with: "  tracked: {host.children: ignored}")
    }
    #expect(try isOrdered(swapped, tracked: "ignored", ignored: "tracked"))
  }

  @Test func `the order of devices in the scenario does not change the runs`() async throws {
    let straight = try await report()
    let permuted = try await report { text in
      var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      let devices = lines.indices.filter { lines[$0].hasPrefix("  - iphone") }
      let names = devices.map { lines[$0] }
      for (place, name) in zip(devices, names.reversed()) { lines[place] = name }
      return lines.joined(separator: "\n")
    }
    #expect(permuted.runs.first?.device == Self.conditions.last)
    for run in straight.runs {
      let other = permuted.runs.first { $0.device == run.device && $0.variant == run.variant }
      #expect(other?.digest == run.digest)
    }
  }

  @Test func `another recording gives the same ranking of the scenario's variants`() async throws {
    let exchanged = try await report {
      $0.replacing(
        "recording: config/recordings/chat-burst.irc.gz\n    at: 8s",
        with: "generate: chat.message\n    from: 8s\n    rate: 14/s")
    }
    #expect(try isOrdered(exchanged, tracked: "tracked", ignored: "ignored"))
  }
}
