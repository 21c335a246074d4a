import Suggestions
import Yams

extension Scenario {
  static let keys = [
    "name", "description", "seed", "duration", "devices", "events", "faults", "variants",
    "thresholds",
  ]

  /// Reads a scenario and the files that it names.
  package init(_ text: String, _ options: SimulationOptions) throws(ScenarioError) {
    let file = options.path
    let top = try Section(Cell.parsing(text, file: file), known: Self.keys)
    name = try top.required("name").text()
    seed = UInt64(try top["seed"]?.integer(in: 0...Int.max) ?? 0)
    duration = try top.required("duration").duration(positive: true)
    var base = RunSettings()
    parameters = []
    for setting in options.settings {
      let (key, cell) = try Self.setting(setting)
      parameters.append((key, try cell.text()))
      switch key {
      case "seed": seed = UInt64(try cell.integer(in: 0...Int.max))
      case "duration": duration = try cell.duration(positive: true)
      default: try base.set(key, cell)
      }
    }
    if let seed = options.seed { self.seed = seed }
    devices = try Self.devices(top, options)
    sources = try SourceReader(options).sources(top.required("events"))
    faults = try Fault.read(top["faults"], duration: duration)
    variants = try Self.variants(top["variants"], base, options)
    if devices.count * variants.count > Self.runLimit {
      throw top.problem(
        at: "devices", "with the variants these are more than \(Self.runLimit) runs")
    }
    thresholds = []
    try readThresholds(top["thresholds"], options)
  }

  /// A setting of the command line. Its place in errors is the option.
  private static func setting(_ text: String) throws(ScenarioError) -> (key: String, cell: Cell) {
    guard let sign = text.firstIndex(of: "="), sign > text.startIndex else {
      throw ScenarioError(file: "--set", message: "expected key=value, not '\(text)'")
    }
    let key = String(text[..<sign])
    let value = String(text[text.index(after: sign)...])
    let known = RunSettings.keys + ["seed", "duration"]
    guard known.contains(key) else {
      throw ScenarioError(
        file: "--set", key: key, message: "unknown key" + Spelling.hint(for: key, among: known))
    }
    return (key, Cell(Node.scalar(.init(value)), file: "--set", key: key))
  }

  private static func devices(
    _ top: Section, _ options: SimulationOptions
  ) throws(ScenarioError) -> [Device] {
    var cells: [Cell] = []
    if options.devices.isEmpty {
      cells = try top.required("devices").list(orOne: true)
      if cells.isEmpty { throw top.problem(at: "devices", "names no device") }
    } else {
      for name in options.devices {
        cells.append(Cell(Node.scalar(.init(name)), file: "--device"))
      }
    }
    let file = DeviceFile(files: options.files, scenario: options.path)
    var devices: [Device] = []
    for cell in cells {
      let name = try cell.text()
      if devices.contains(where: { $0.name == name }) {
        throw cell.problem("the device '\(name)' stands here twice")
      }
      devices.append(try file.device(name, cell))
    }
    return devices
  }

  private static func variants(
    _ cell: Cell?, _ base: RunSettings, _ options: SimulationOptions
  ) throws(ScenarioError) -> [Variant] {
    var variants: [Variant] = []
    if let cell {
      let section = try Section(cell, known: nil)
      for name in section.names {
        var settings = base
        let variant = try Section(section.required(name), known: RunSettings.keys)
        for key in variant.names { try settings.set(key, variant.required(key)) }
        variants.append(Variant(name: name, settings: settings))
      }
      if variants.isEmpty { throw cell.problem("names no variant") }
    } else {
      variants = [Variant(name: "default", settings: base)]
    }
    for name in options.variants where !variants.contains(where: { $0.name == name }) {
      throw ScenarioError(
        file: "--variant",
        message: "the scenario has no variant '\(name)'"
          + Spelling.hint(for: name, among: variants.map(\.name)))
    }
    guard !options.variants.isEmpty else { return variants }
    return variants.filter { options.variants.contains($0.name) }
  }

  private mutating func readThresholds(
    _ cell: Cell?, _ options: SimulationOptions
  ) throws(ScenarioError) {
    var cells = try cell?.list() ?? []
    for text in options.thresholds {
      cells.append(Cell(Node.scalar(.init(text)), file: "--threshold"))
    }
    let names = variants.map(\.name) + devices.map(\.name)
    for cell in cells {
      let threshold: Threshold
      do throws(ThresholdProblem) {
        threshold = try Threshold(cell.plainText)
      } catch {
        throw cell.problem(error.message)
      }
      // With single variants or devices chosen, a threshold for another one concerns no run.
      if let scope = threshold.scope, !names.contains(scope), options.variants.isEmpty,
        options.devices.isEmpty
      {
        throw cell.problem(
          "there is no variant or device '\(scope)'" + Spelling.hint(for: scope, among: names))
      }
      thresholds.append(threshold)
    }
  }
}

extension Cell {
  /// The text of a threshold; empty if it is none, which the threshold's own reader refuses.
  fileprivate var plainText: String { node.scalar?.string ?? "" }
}
