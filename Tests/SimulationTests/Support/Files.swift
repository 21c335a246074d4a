import Foundation
import HangSimulation
import Simulation

/// Returns files that exist only in memory.
func files(_ contents: [String: String]) -> ScenarioFiles {
  ScenarioFiles(
    read: { path in contents[path].map { Array($0.utf8) } },
    list: { directory in
      contents.keys.filter { $0.hasPrefix(directory + "/") }
        .map { String($0.dropFirst(directory.count + 1)) }.sorted()
    })
}

/// A device on which an action costs 1 ms and a view 2 ms, and a device that is twice as slow.
let testDevices = [
  "config/devices/fast.yaml": """
  title: Fast
  refreshRate: 60
  conditions: {hot: 1.5, busy: 2}
  costs: {action: 1ms, element: 10us, view: 2ms, viewElement: 100us, appearance: 30ms}
  """,
  "config/devices/slow.yaml": "{like: fast, slowdown: 2}",
]

let shortScenario = """
  name: short
  seed: 7
  duration: 20s
  devices: [fast, slow+hot]
  events:
    - event: {type: stream, state: live}
      at: 1s
    - generate: chat.message
      stages: [{rate: 20/s, for: 5s}, {rate: 200/s, for: 1s}, {rate: 20/s, for: 14s}]
    - generate: slider
      rate: 20/m
    - generate: stats
      arrival: even
      rate: 2/s
  variants:
    tracked: {host.children: tracked}
    ignored: {host.children: ignored}
  """

/// Runs a test scenario.
func simulateText(
  _ text: String, extraFiles: [String: String] = [:],
  _ change: (inout SimulationOptions) -> Void = { _ in }
) async throws -> SimulationOutcome {
  try await simulate(scenarioText: text, options: options(extraFiles, change))
}

func options(
  _ extraFiles: [String: String] = [:], _ change: (inout SimulationOptions) -> Void = { _ in }
) -> SimulationOptions {
  let all = testDevices.merging(extraFiles) { $1 }
  var options = SimulationOptions(path: "test.yaml", files: files(all))
  change(&options)
  return options
}

/// The root directory of this package.
let packageRoot = URL(fileURLWithPath: #filePath)
  .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  .deletingLastPathComponent().path
