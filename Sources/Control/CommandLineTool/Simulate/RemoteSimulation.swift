import ControlInterface
import Foundation
import HangSimulation
import JSON
import Simulation
import Varlink
import YAMLReader

/// The result of a simulation that ran in this process or in the daemon.
struct SimulationResult: Equatable {
  var report: JSONValue
  var lines: [String]
  var page: String?
  var trace: String?

  var digest: String { report["digest"]?.stringValue ?? "" }

  private var reproducible: JSONValue {
    guard case .object(var members) = report else { return report }
    for name in SimulationReport.measuredMembers { members[JSONName(name)] = nil }
    return .object(members)
  }

  /// Compares the reports, without the members that contain measurements. The lines and the page
  /// are derived from the report and need no comparison.
  static func == (left: Self, right: Self) -> Bool {
    left.reproducible == right.reproducible && left.trace == right.trace
  }
}

/// Runs a scenario in the daemon, to which it sends all files that the scenario needs.
struct RemoteSimulation {
  var context: Context
  var wantsPage: Bool

  func run(
    _ text: String, _ options: SimulationOptions, progress: (Int) -> Void
  ) async throws -> SimulationResult {
    let request = try request(text, options)
    do {
      return try await run(request, wantsTrace: options.wantsTrace, progress: progress)
    } catch var failure as Failure where failure.status == .notReachable {
      failure.message += "; --local simulates without the daemon"
      throw failure
    }
  }

  private func run(
    _ request: SimulateRequest, wantsTrace: Bool, progress: (Int) -> Void
  ) async throws -> SimulationResult {
    try await context.withDaemon { client in
      var trace = ""
      for try await reply in try client.simulate(request) {
        progress(reply.percent)
        trace += reply.trace ?? ""
        guard let report = reply.report else { continue }
        return SimulationResult(
          report: report, lines: reply.lines ?? [], page: reply.page,
          trace: wantsTrace ? trace : nil)
      }
      throw Failure(.failed, "the daemon did not return a report")
    }
  }

  /// Builds the call. Parses the scenario first, to report errors and to collect the files that it
  /// needs.
  private func request(
    _ text: String, _ options: SimulationOptions
  ) throws -> SimulateRequest {
    let files: [(path: String, bytes: [UInt8])]
    do throws(ConfigurationError) { files = try Scenario.files(text, options) } catch {
      throw Failure(error)
    }
    // Base64 turns three bytes into four characters, and a call may have at most 4 MiB.
    guard files.reduce(text.utf8.count, { $0 + $1.bytes.count }) < 2_900_000 else {
      throw Failure(
        .usage, "the files of the scenario are too large for the daemon; add --local to run it here"
      )
    }
    var request = SimulateRequest(
      path: options.path, scenario: text,
      files: files.map { path, bytes in
        ScenarioFile(path: path, contents: Data(bytes).base64EncodedString())
      })
    request.devices = options.devices
    request.variants = options.variants
    request.seed = options.seed.map { Int(truncatingIfNeeded: $0) }
    request.settings = options.settings
    request.thresholds = options.thresholds
    request.wantsPage = wantsPage
    request.wantsTrace = options.wantsTrace
    return request
  }
}
