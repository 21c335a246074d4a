import Foundation
import Testing

@Suite struct SimulatingTests {
  static let scenario = repositoryFile("config/scenarios/host-screen.yaml")

  /// Swift seeds its hash function differently in each process. One process here uses the fixed
  /// seed.
  @Test
  func `reports do not depend on the process's hash seed but do depend on the scenario's seed`()
    throws
  {
    func report(_ arguments: [String] = [], _ environment: [String: String] = [:]) throws -> Data {
      let outcome = try run(
        "livehostctl",
        ["simulate", Self.scenario, "--local", "--json=short", "--set", "duration=40s"] + arguments,
        environment: environment)
      #expect(outcome.status == 0, "\(outcome.diagnostics)")
      return Data(outcome.output.utf8)
    }
    let first = try report()
    #expect(try report() == first)
    #expect(try report() == first)
    #expect(try report([], ["SWIFT_DETERMINISTIC_HASHING": "1"]) == first)
    #expect(try report(["--seed", "43"]) != first)
  }

  @Test func `each kind of failed simulation has a distinct exit code`() throws {
    func status(_ arguments: String...) throws -> Int32 {
      try run("livehostctl", ["simulate", "--local"] + arguments).status
    }
    let short = ["--set", "duration=10s", "--device", "iphone-15-plus"]
    #expect(try run("livehostctl", ["simulate", Self.scenario, "--local"] + short).status == 0)
    #expect(
      try run(
        "livehostctl",
        ["simulate", Self.scenario, "--local", "--threshold", "microhangs == 0"] + short
      ).status == 99)
    #expect(try status(Self.scenario, "--set", "durations=1s") == 64)
    #expect(try status(repositoryFile("config/livehostd.yaml")) == 78)
    #expect(try status("/nowhere.yaml") == 78)
  }
}
