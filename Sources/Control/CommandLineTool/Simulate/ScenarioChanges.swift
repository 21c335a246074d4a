import ArgumentParser
import Simulation

/// What replaces parts of a scenario.
struct ScenarioChanges: ParsableArguments {
  @Option(
    name: .customLong("device"),
    help: ArgumentHelp(
      "Use this device instead of the scenario's; may be repeated.", valueName: "device"),
    completion: .devices)
  var devices: [String] = []
  @Option(
    name: .customLong("variant"),
    help: ArgumentHelp("Run only this variant; may be repeated.", valueName: "variant"))
  var variants: [String] = []
  @Option(
    name: .customLong("set"),
    help: ArgumentHelp(
      "Set a key of the scenario or of all variants, such as load=2 or costs.view=3ms; may be repeated.",
      valueName: "key=value"))
  var settings: [String] = []
  @Option(
    name: .customLong("threshold"),
    help: ArgumentHelp(
      "Add a threshold, such as 'hangs == 0'; may be repeated.",
      valueName: "threshold"))
  var thresholds: [String] = []

  var isEmpty: Bool {
    devices.isEmpty && variants.isEmpty && settings.isEmpty && thresholds.isEmpty
  }

  func options(_ path: String) -> SimulationOptions {
    var options = SimulationOptions(path: path)
    options.devices = devices
    options.variants = variants
    options.settings = settings
    options.thresholds = thresholds
    return options
  }
}
