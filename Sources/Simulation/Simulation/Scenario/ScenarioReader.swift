import HangSimulation
import HostFeature
import Locking
import SystemSupport
import Wording
package import YAMLReader

extension Scenario {
  static let keys = [
    "name", "description", "seed", "duration", "devices", "events", "faults", "effects",
    "variants", "thresholds",
  ]

  /// Reads a scenario and the files that it refers to.
  package init(_ text: String, _ options: SimulationOptions) throws(ConfigurationError) {
    let file = options.path
    let top = try YAMLMapping(YAMLNode(file, text), known: Self.keys)
    name = try top.required("name").text()
    seed = UInt64(try top["seed"]?.integer(in: 0...Int.max) ?? 0)
    let written = try top.required("duration").duration(positive: true)
    duration = written
    var base = RunSettings()
    parameters = []
    for setting in options.settings {
      let (key, value) = try Self.setting(setting)
      parameters.append((key, try value.text()))
      switch key {
      case "seed": seed = UInt64(try value.integer(in: 0...Int.max))
      case "duration": duration = try value.duration(positive: true)
      default: try base.set(key, value)
      }
    }
    if let seed = options.seed { self.seed = seed }
    devices = try Self.devices(top, options)
    sources = try SourceReader(options, end: max(written, duration)).sources(top.required("events"))
    faults = try Fault.read(top["faults"], duration: duration)
    effects = try HostEffect.read(top["effects"])
    variants = try Self.variants(top["variants"], base, options)
    if devices.count * variants.count > Self.runLimit {
      throw top.problem(
        at: "devices", "devices times variants exceed \(Self.runLimit) runs")
    }
    thresholds = []
    try readThresholds(top["thresholds"], options, leftOut: Self.names(top))
  }

  /// Returns the files to which a scenario refers, by path, so that the scenario can run on another
  /// machine. Also reads the scenario, so that errors in it are reported.
  package static func files(
    _ text: String, _ options: SimulationOptions
  ) throws(ConfigurationError) -> [(path: String, bytes: [UInt8])] {
    let used = Guarded<[String: [UInt8]]>([:])
    let disk = options.files
    var options = options
    options.files = ScenarioFiles(
      read: { path in
        let bytes = disk.read(path)
        if let bytes { used.withLock { $0[path] = bytes } }
        return bytes
      }, list: disk.list)
    _ = try Scenario(text, options)
    return used.withLock { $0 }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// Splits a setting from the command line into its key and its value. Errors name the option
  /// instead of a file.
  private static func setting(
    _ text: String
  ) throws(ConfigurationError) -> (key: String, value: YAMLNode) {
    guard let sign = text.firstIndex(of: "="), sign > text.startIndex else {
      throw ConfigurationError(file: "--set", message: "expected key=value, not '\(text)'")
    }
    let key = String(text[..<sign])
    let value = String(text[text.index(after: sign)...])
    let known = RunSettings.keys + ["seed", "duration"]
    guard known.contains(key) else {
      throw ConfigurationError(
        file: "--set", key: key, message: "unknown key" + Spelling.hint(for: key, among: known))
    }
    return (key, YAMLNode(value, option: "--set", key: key))
  }

  private static func devices(
    _ top: YAMLMapping, _ options: SimulationOptions
  ) throws(ConfigurationError) -> [Device] {
    var nodes = options.devices.map { YAMLNode($0, option: "--device") }
    if nodes.isEmpty {
      nodes = try top.required("devices").list(orOne: true)
      if nodes.isEmpty { throw top.problem(at: "devices", "lists no devices") }
    }
    // The number is checked first, because each device is compared with all previous ones.
    if nodes.count > runLimit {
      throw top.problem(at: "devices", "lists more than \(runLimit) devices")
    }
    let file = DeviceFile(files: options.files, scenario: options.path)
    var devices: [Device] = []
    for node in nodes {
      let name = try node.text()
      if devices.contains(where: { $0.name == name }) {
        throw node.problem("the device '\(name)' is listed twice")
      }
      devices.append(try file.device(name, node))
    }
    return devices
  }

  private static func variants(
    _ node: YAMLNode?, _ base: RunSettings, _ options: SimulationOptions
  ) throws(ConfigurationError) -> [Variant] {
    var variants: [Variant] = []
    if let node {
      for (name, value) in try YAMLMapping(node, known: nil).entries {
        var settings = base
        for (key, value) in try YAMLMapping(value, known: RunSettings.keys).entries {
          try settings.set(key, value)
        }
        variants.append(Variant(name: name, settings: settings))
      }
      if variants.isEmpty { throw node.problem("lists no variants") }
    } else {
      variants = [Variant(name: "default", settings: base)]
    }
    for name in options.variants where !variants.contains(where: { $0.name == name }) {
      throw ConfigurationError(
        file: "--variant",
        message: "the scenario has no variant '\(name)'"
          + Spelling.hint(for: name, among: variants.map(\.name)))
    }
    guard !options.variants.isEmpty else { return variants }
    return variants.filter { options.variants.contains($0.name) }
  }

  /// Returns the names of all devices and variants in the file, whether or not they are selected.
  private static func names(_ top: YAMLMapping) throws(ConfigurationError) -> [String] {
    var names: [String] = []
    for node in try top["devices"]?.list(orOne: true) ?? [] { names.append(try node.text()) }
    guard let variants = top["variants"] else { return names }
    return names + (try YAMLMapping(variants, known: nil).entries.map(\.0))
  }

  /// - Parameter leftOut: The names of devices and variants that are not selected.
  private mutating func readThresholds(
    _ node: YAMLNode?, _ options: SimulationOptions, leftOut: [String]
  ) throws(ConfigurationError) {
    let nodes =
      try (node?.list() ?? []) + options.thresholds.map { YAMLNode($0, option: "--threshold") }
    if nodes.count > Self.thresholdLimit {
      throw nodes[Self.thresholdLimit].problem(
        "exceeds the limit of \(Self.thresholdLimit) thresholds")
    }
    for node in nodes {
      let threshold: Threshold
      do throws(ThresholdProblem) {
        // The threshold's own parser rejects everything except a scalar.
        threshold = try Threshold(node.scalar ?? "")
        try threshold.check(
          views: HostView.names, actions: ActionKinds.host.names,
          effects: EffectKind.allCases.map(\.rawValue), duration: duration)
        try threshold.scope?.check(
          devices: devices.map(\.name), variants: variants.map(\.name), leftOut: leftOut)
      } catch {
        throw node.problem(error.message)
      }
      thresholds.append(threshold)
    }
  }
}

extension YAMLNode {
  /// Parses the top-level mapping of a file, which must not be empty.
  init(_ file: String, _ text: String) throws(ConfigurationError) {
    guard let top = try YAMLNode(parsing: text, file: file) else {
      throw ConfigurationError(file: file, message: "is empty")
    }
    self = top
  }
}
