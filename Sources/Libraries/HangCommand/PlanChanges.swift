import Foundation
import HangSimulation
import Wording

#if canImport(ArgumentParser)
  package import ArgumentParser
#endif

/// The shell completion of device names.
package protocol DeviceNames: Sendable {
  static var completion: CompletionKind { get }
}

/// The devices of a program's plan, and device files written by `calibrate`.
enum PlanDevices: DeviceNames {
  static var completion: CompletionKind { .file(extensions: ["json"]) }
}

/// The changes that a command line makes to a plan or scenario.
package struct PlanChanges<Devices: DeviceNames>: ParsableArguments {
  @Option(
    name: .customLong("device"),
    help: ArgumentHelp("Use only this device; may be repeated.", valueName: "device"),
    completion: Devices.completion)
  package var devices: [String] = []
  @Option(
    name: .customLong("variant"),
    help: ArgumentHelp("Run only this variant; may be repeated.", valueName: "variant"))
  package var variants: [String] = []
  @Option(
    name: .customLong("set"),
    help: ArgumentHelp(
      "Set a key of the plan or of all variants, such as load=2 or costs.view=3ms; may be repeated.",
      valueName: "key=value"))
  package var settings: [String] = []
  @Option(
    name: .customLong("threshold"),
    help: ArgumentHelp(
      "Add a threshold, such as 'hangs == 0'; may be repeated.", valueName: "threshold"))
  package var thresholds: [String] = []

  package init() {}

  /// Whether anything other than thresholds is changed.
  package var changesRuns: Bool { !(devices.isEmpty && variants.isEmpty && settings.isEmpty) }

  /// - Throws: `ValidationError`, `FileProblem`.
  func apply(to plan: inout SimulationPlan) throws {
    for setting in settings { try plan.set(setting) }
    plan.leftOut = plan.devices.map(\.name) + plan.variants.map(\.name)
    plan.devices = try Self.devices(devices, from: plan.devices)
    plan.variants = try Self.choose(variants, from: plan.variants, "variant", \.name) { _ in nil }
    for text in thresholds { plan.thresholds.append(try Threshold(option: "--threshold", text)) }
  }

  /// Returns the devices with these names, from the plan or from files; without names, all devices
  /// of the plan.
  /// - Throws: `ValidationError`, `FileProblem`.
  static func devices(_ names: [String], from known: [Device]) throws -> [Device] {
    try choose(names, from: known, "device", \.name, readDevice)
  }

  /// Reads a device from a file. Returns `nil` if there is no file with this name that can be read
  /// as JSON.
  private static func readDevice(_ name: String) throws -> Device? {
    guard name.hasSuffix(".json"), let data = FileManager.default.contents(atPath: name) else {
      return nil
    }
    do { return try Device(json: [UInt8](data)) } catch {
      throw FileProblem(description: "\(name): \(error.description)", isBadData: true)
    }
  }

  /// Returns the named choices, in the order of the command line. `read` creates a choice that is
  /// not in the list, or returns `nil`.
  private static func choose<Choice>(
    _ names: [String], from choices: [Choice], _ kind: String, _ name: (Choice) -> String,
    _ read: (String) throws -> Choice?
  ) throws -> [Choice] {
    guard !names.isEmpty else { return choices }
    return try names.map { requested in
      if let choice = choices.first(where: { name($0) == requested }) { return choice }
      if let choice = try read(requested) { return choice }
      throw ValidationError(
        "there is no \(kind) '\(requested)'"
          + Spelling.hint(for: requested, among: choices.map(name)))
    }
  }
}

extension Threshold {
  /// Parses a condition from the command line.
  init(option: String, _ text: String) throws {
    do throws(ThresholdProblem) { try self.init(text) } catch {
      throw ValidationError("\(option) '\(text)': \(error.message)")
    }
  }
}
