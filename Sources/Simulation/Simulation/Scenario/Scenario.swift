package import HangSimulation

/// The contents of a scenario file: its events, devices, variants, and thresholds.
package struct Scenario: Sendable {
  package var name: String
  package var seed: UInt64
  package var duration: VirtualTime
  package var devices: [Device]
  var sources: [SourceDescription]
  var faults: [Fault]
  /// The services that effects use. A service that is not in this dictionary is not available to
  /// the screen.
  var effects: [EffectKind: HostEffect]
  /// The variants in the order of the file, or a single variant named `default` if the file has
  /// none.
  package var variants: [Variant]
  package var thresholds: [Threshold]
  /// The settings from the command line, in the order in which they were given.
  package var parameters: [(key: String, value: String)]

  /// A version of the screen.
  package struct Variant: Hashable, Sendable {
    package var name: String
    package var settings: RunSettings
  }

  /// The maximum number of runs. A report about more runs would be unreadable.
  static let runLimit = 256
  /// The maximum number of thresholds, each of which is checked against all runs.
  static let thresholdLimit = 256
}

/// The command-line options that select contents of a scenario file, and that supplement the file.
package struct SimulationOptions: Sendable {
  /// The scenario's path, which errors name, and from which other files are found.
  package var path: String
  package var files: ScenarioFiles
  /// The devices to use instead of the file's devices, or empty to use the file's.
  package var devices: [String] = []
  /// The variants to run, or empty to run all.
  package var variants: [String] = []
  package var seed: UInt64?
  /// The arguments of `--set`, each in the form `key=value`.
  package var settings: [String] = []
  /// Thresholds that are checked in addition to the file's thresholds.
  package var thresholds: [String] = []
  package var wantsTrace = false
  /// The maximum total size of all recordings, in bytes without compression.
  package var recordingLimit = Int.max

  package init(path: String, files: ScenarioFiles = .disk) {
    self.path = path
    self.files = files
  }
}
