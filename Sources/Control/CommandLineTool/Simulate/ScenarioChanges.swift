import ArgumentParser
import HangCommand
import Simulation

/// What replaces parts of a scenario.
typealias ScenarioChanges = PlanChanges<ScenarioDevices>

/// Device profiles, in files.
enum ScenarioDevices: DeviceNames {
  static var completion: CompletionKind { .devices }
}

extension ScenarioChanges {
  func options(_ path: String) -> SimulationOptions {
    var options = SimulationOptions(path: path)
    options.devices = devices
    options.variants = variants
    options.settings = settings
    options.thresholds = thresholds
    return options
  }
}
