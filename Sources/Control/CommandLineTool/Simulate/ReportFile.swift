import HangSimulation
import JSON
import Simulation
import Suggestions

/// The runs of a simulation report in a file.
struct ReportFile {
  /// The variant that was chosen, if any.
  let variant: String?
  let runs: [RunMetrics]

  /// - Parameter name: a file, or a file and a variant separated by a colon.
  init(_ name: String) throws(Failure) {
    var path = name
    var variant: String?
    if ScenarioFiles.disk.read(name) == nil, let colon = name.lastIndex(of: ":") {
      path = String(name[..<colon])
      variant = String(name[name.index(after: colon)...])
    }
    guard let bytes = ScenarioFiles.disk.read(path) else {
      throw Failure(.badData, "\(path): cannot be read: \(TextFile.problem(path))")
    }
    let report: JSONValue
    do { report = try JSONValue(parsing: String(decoding: bytes, as: UTF8.self)) } catch {
      throw Failure(
        .badData, "\(path): is not valid JSON: \(error.explanation)")
    }
    guard let runs = report["runs"]?.arrayValue?.compactMap(RunMetrics.init(json:)), !runs.isEmpty
    else {
      throw Failure(
        .badData, "\(path): is not a report; 'livehostctl simulate --json=short' writes one")
    }
    let variants = Set(runs.map(\.variant)).sorted()
    self.variant = variant
    self.runs = variant.map { name in runs.filter { $0.variant == name } } ?? runs
    if let variant, self.runs.isEmpty {
      let hint = Spelling.hint(for: variant, among: variants)
      throw Failure(.badData, "\(path): has no run of the variant '\(variant)'\(hint)")
    }
  }
}

extension RunMetrics {
  /// Reads one run of a report; nil if `json` is not one. Missing members are left out.
  fileprivate init?(json: JSONValue) {
    guard let device = json["device"]?.stringValue, let variant = json["variant"]?.stringValue
    else { return nil }
    self.init(device: device, variant: variant, metrics: [])
    add("microhangs", count: json["microhangs"])
    add("hangs", count: json["hangs"])
    add("longest turn, ms", time: json["longestMs"])
    add("hitches, ms/s", time: json["hitchMsPerSecond"])
    if let busy = json["busyPercent"]?.doubleValue {
      metrics.append(Metric("thread busy, %", .share(Int((busy * 10).rounded()))))
    }
    for name in ["p50", "p95", "p99", "max"] {
      add("latency \(name), ms", time: json["latencyMs"]?[name])
    }
    for name in ["received", "coalesced", "rejected", "pending"] {
      add("events \(name)", count: json["events"]?[name])
    }
    add("actions", count: json["actions"])
    add("frames", count: json["frames"])
    for effect in json["effects"]?.arrayValue ?? [] {
      let name = effect["name"]?.stringValue ?? "?"
      for count in ["started", "failed", "abandoned"] {
        add("\(name) \(count)", count: effect[count])
      }
      for time in ["answered", "queued"] {
        add("\(name) \(time) p95, ms", time: effect["\(time)Ms"]?["p95"])
      }
    }
    for view in json["views"]?.arrayValue ?? [] {
      let name = view["name"]?.stringValue ?? "?"
      add("\(name) evaluations", count: view["evaluations"])
      add("\(name) avoidable", count: view["avoidable"])
      add("\(name) mean, ms", time: view["meanMs"])
      add("\(name) self, ms", time: view["selfMs"])
    }
  }

  private mutating func add(_ name: String, count value: JSONValue?) {
    guard let value = value?.doubleValue.flatMap(Int.init(exactly:)) else { return }
    metrics.append(Metric(name, .count(value)))
  }

  private mutating func add(_ name: String, time value: JSONValue?) {
    guard let value = value?.doubleValue, abs(value) < 1e12 else { return }
    metrics.append(Metric(name, .time(Int64((value * 1e6).rounded()))))
  }
}

extension JSONValue {
  /// A number of either kind.
  fileprivate var doubleValue: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .number(let number): number
    case .null, .bool, .string, .array, .object: nil
    }
  }
}
