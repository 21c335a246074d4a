import Foundation
import FuzzSupport
import HangSimulation
import LivehostDaemon
import Simulation
import YAMLReader

/// Checks that an error's line is in the file. Missing text may be reported on the line after the
/// last line.
private func checkPosition(of error: ConfigurationError, in text: String) {
  // The line breaks of YAML 1.1, section 5.4.
  let lines =
    text.unicodeScalars.count { "\n\r\u{85}\u{2028}\u{2029}".unicodeScalars.contains($0) } + 1
  check(
    "an error's line is in the text: \(error)",
    error.line.map { (1...lines + 1).contains($0) } ?? true)
  check("an error has a message", !error.message.isEmpty)
}

/// Reads configuration files of the daemon.
final class ConfigurationParser: Parser {
  func read(_ bytes: UnsafeBufferPointer<UInt8>) {
    let text = String(decoding: bytes, as: UTF8.self)
    var configuration = Configuration()
    do { try configuration.read(text: text, file: "fuzz.yaml") } catch {
      checkPosition(of: error, in: text)
    }
  }
}

/// Returns the files that a scenario may name: the devices in `config`, and a recording of one
/// event.
private func bundledFiles() throws -> [String: [UInt8]] {
  var files = [
    "config/recordings/chat-burst.irc.gz": Array(#"{"type":"viewers","ts":1,"count":1}"#.utf8)
  ]
  let folder = "config/devices"
  for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
    files["\(folder)/\(name)"] = Array(
      try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)")))
  }
  return files
}

/// Reads scenarios of the simulator.
final class ScenarioParser: Parser {
  private let options: SimulationOptions

  init() throws {
    let files = try bundledFiles()
    options = SimulationOptions(
      path: "config/scenarios/fuzz.yaml",
      files: ScenarioFiles(read: { files[$0] }, list: { _ in [] }))
  }

  func read(_ bytes: UnsafeBufferPointer<UInt8>) {
    let text = String(decoding: bytes, as: UTF8.self)
    do {
      let scenario = try Scenario(text, options)
      check("a scenario has runs", !scenario.devices.isEmpty && !scenario.variants.isEmpty)
    } catch {
      if !error.isUsage { checkPosition(of: error, in: text) }
    }
  }
}

/// Reads device profiles through a scenario that names a profile.
final class DeviceParser: Parser {
  private static let scenario = """
    name: fuzz
    duration: 1s
    devices: fuzz
    events:
      - event: {type: viewers, count: 1}
        at: 0s
    """

  private let files: [String: [UInt8]]

  init() throws { files = try bundledFiles() }

  func read(_ bytes: UnsafeBufferPointer<UInt8>) {
    let device = Array(bytes)
    let options = SimulationOptions(
      path: "config/scenarios/fuzz.yaml",
      files: ScenarioFiles(
        read: { [files] in $0 == "config/devices/fuzz.yaml" ? device : files[$0] },
        list: { _ in [] }))
    do {
      let scenario = try Scenario(Self.scenario, options)
      check("the scenario uses the device", scenario.devices.map(\.name) == ["fuzz"])
    } catch {
      checkPosition(of: error, in: String(decoding: device, as: UTF8.self))
    }
  }
}
