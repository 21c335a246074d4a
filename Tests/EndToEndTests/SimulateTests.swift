import ControlInterface
import Foundation
import Testing

@Suite(.serialized)
struct SimulateTests {
  static let scenario = repositoryFile("config/scenarios/host-screen.yaml")

  @Test func `simulate gives the same report, page and trace with the daemon as with --local`()
    throws
  {
    let daemon = try RunningDaemon()
    var results: [[String]] = []
    for local in [false, true] {
      let files = ["page.html", "trace.json"].map { daemon.directory.appendingPathComponent($0) }
      let outcome = try run(
        "livehostctl",
        ["simulate", Self.scenario, "--json=short", "--html", files[0].path]
          + ["--trace", files[1].path, "--set", "load=1.5"]
          + (local ? ["--local"] : ["--socket", daemon.controlSocket]))
      #expect(outcome.status == 0, "\(outcome.diagnostics)")
      let written = try files.map { try String(contentsOf: $0, encoding: .utf8) }
      results.append([outcome.output] + written)
    }
    #expect(results[0][0] == results[1][0])
    #expect(results[0][1] == results[1][1])
    #expect(results[0][2] == results[1][2])
    #expect(
      results[0][2].utf8.count > 16 << 20, "the trace exceeds the maximum size of one message")
    #expect(daemon.stop() == 0)
  }

  @Test
  func `an invalid scenario exits with 78, a missed threshold with 99, a missing daemon with 69`()
    throws
  {
    let daemon = try RunningDaemon()
    let wrong = daemon.directory.appendingPathComponent("wrong.yaml")
    try "name: wrong\nduratoin: 3s\n".write(to: wrong, atomically: true, encoding: .utf8)
    let refused = try daemon.ctl("simulate", wrong.path)
    #expect(refused.status == 78)
    #expect(refused.diagnostics.contains("wrong.yaml:2: duratoin"))
    let missed = try daemon.ctl(
      "simulate", Self.scenario, "--threshold", "hangs == 0", "--device", "iphone-13-mini+game")
    #expect(missed.status == 99)
    #expect(missed.diagnostics.contains("hangs == 0"))
    let absent = try run(
      "livehostctl", ["--socket", daemon.directory.path + "/none", "simulate", Self.scenario])
    #expect(absent.status == 69)
    #expect(daemon.stop() == 0)
  }
}
