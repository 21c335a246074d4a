import ArgumentParser
import HangCommand
import Simulation

/// The command-line options that replace parts of a scenario.
typealias ScenarioChanges = PlanChanges<ScenarioDevices>

/// The names of device profiles, which shells complete from the files found.
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
