package import HangSimulation

/// The contents of a scenario file: what happens, on which devices, in which variants, and which
/// thresholds apply.
package struct Scenario: Sendable {
  package var name: String
  package var seed: UInt64
  package var duration: VirtualTime
  package var devices: [Device]
  var sources: [SourceDescription]
  var faults: [Fault]
  /// What effects find outside the screen; what is missing is not there.
  var effects: [EffectKind: HostEffect]
  /// In the order of the file; a single one named `default` if the file has none.
  package var variants: [Variant]
  package var thresholds: [Threshold]
  /// Settings from the command line, in their order.
  package var parameters: [(key: String, value: String)]

  /// One version of the screen.
  package struct Variant: Hashable, Sendable {
    package var name: String
    package var settings: RunSettings
  }

  /// Longer reports would be useless to people.
  static let runLimit = 256
  /// The same of conditions, each of which is checked against all runs.
  static let thresholdLimit = 256
}

/// What a caller adds to a scenario file.
package struct SimulationOptions: Sendable {
  /// The scenario's path. Errors name it, and other files are found relative to it.
  package var path: String
  package var files: ScenarioFiles
  /// Devices that replace those of the file; empty to use the file's.
  package var devices: [String] = []
  /// The variants to run; empty runs all.
  package var variants: [String] = []
  package var seed: UInt64?
  /// As given to `--set`, `key=value` each.
  package var settings: [String] = []
  /// Thresholds in addition to those of the file.
  package var thresholds: [String] = []
  /// Whether to record a trace.
  package var wantsTrace = false
  /// How long all recordings together may be, in bytes without compression.
  package var recordingLimit = Int.max

  package init(path: String, files: ScenarioFiles = .disk) {
    self.path = path
    self.files = files
  }
}
