import HangSimulation
import Suggestions

#if canImport(ArgumentParser)
  import ArgumentParser
#endif

/// What a command line says about a plan that it did not make.
struct PlanOptions: ParsableArguments {
  @Option(
    name: .customLong("device"),
    help: ArgumentHelp("Use only this device; may be repeated.", valueName: "device"))
  var devices: [String] = []
  @Option(
    name: .customLong("variant"),
    help: ArgumentHelp("Run only this variant; may be repeated.", valueName: "variant"))
  var variants: [String] = []
  @Option(
    name: .customLong("threshold"),
    help: ArgumentHelp(
      "Add a threshold, such as 'hangs == 0'; may be repeated.", valueName: "threshold"))
  var thresholds: [String] = []

  func apply(to plan: inout SimulationPlan) throws {
    plan.devices = try Self.choose(devices, from: plan.devices, "device", \.name)
    plan.variants = try Self.choose(variants, from: plan.variants, "variant", \.name)
    for text in thresholds { plan.thresholds.append(try Threshold(option: "--threshold", text)) }
  }

  /// In the order of the command line.
  private static func choose<Choice>(
    _ names: [String], from choices: [Choice], _ kind: String, _ name: (Choice) -> String
  ) throws -> [Choice] {
    guard !names.isEmpty else { return choices }
    return try names.map { wanted in
      guard let choice = choices.first(where: { name($0) == wanted }) else {
        throw ValidationError(
          "there is no \(kind) '\(wanted)'" + Spelling.hint(for: wanted, among: choices.map(name)))
      }
      return choice
    }
  }
}

extension Threshold {
  /// Reads a condition of the command line.
  init(option: String, _ text: String) throws {
    do throws(ThresholdProblem) { try self.init(text) } catch {
      throw ValidationError("\(option) '\(text)': \(error.message)")
    }
  }
}
