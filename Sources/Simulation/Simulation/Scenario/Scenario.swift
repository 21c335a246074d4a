/// A scenario file as read: what happens, on which devices, in which variants, and what must hold.
package struct Scenario: Sendable {
  package var name: String
  package var seed: UInt64
  package var duration: VirtualTime
  package var devices: [Device]
  var sources: [SourceDescription]
  var faults: [Fault]
  /// In the order of the file; a single one named `default` if the file has none.
  package var variants: [Variant]
  package var thresholds: [Threshold]
  /// What was set on the command line, in that order.
  package var parameters: [(key: String, value: String)]

  /// One way of building the screen.
  package struct Variant: Hashable, Sendable {
    package var name: String
    package var settings: RunSettings
  }

  /// A longer report would be of no use to people.
  static let runLimit = 256
}

/// What a caller adds to a scenario file.
package struct SimulationOptions: Sendable {
  /// The scenario's path: it is named in errors, and other files are found relative to it.
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
  /// Whether a trace is made.
  package var wantsTrace = false

  package init(path: String, files: ScenarioFiles = .disk) {
    self.path = path
    self.files = files
  }
}
