import JSON

/// Runs of one variant on one device with measured costs. Actions and evaluations take the time of
/// the real code on the simulating machine, multiplied by the device's slowdown. The costs of
/// appearances and of elements on the screen are the device's.
///
/// Each repetition measures again and differs slightly, so figures are intervals.
public struct MeasuredRuns: Sendable {
  /// The name of the device.
  public var device: String
  /// The name of the variant.
  public var variant: String
  /// The runs, one for each repetition.
  public var runs: [RunReport]

  /// Returns the minimum, median, and maximum of a figure.
  public func interval<Value: Comparable>(
    _ figure: (RunReport) -> Value
  ) -> (least: Value, median: Value, most: Value)? {
    let sorted = runs.map(figure).sorted()
    guard let least = sorted.first, let most = sorted.last else { return nil }
    return (least, sorted[sorted.count / 2], most)
  }
}

extension SweepReport {
  /// Returns the runs of all seeds with measured costs; `nil` if there are none.
  func measuredRuns(device: String, variant: String) -> MeasuredRuns? {
    let runs = reports.flatMap(\.measured)
      .filter { $0.device == device && $0.variant == variant }.flatMap(\.runs)
    return runs.isEmpty ? nil : MeasuredRuns(device: device, variant: variant, runs: runs)
  }
}

extension MeasuredRuns {
  /// Returns the minimum, median, and maximum of a metric, given by its name in conditions; `nil`
  /// if no run has data for it.
  func texts(of name: String) -> [String]? {
    guard let metric = try? ThresholdMetric(name) else { return nil }
    let values = runs.compactMap { metric.value(in: $0) }.sorted()
    guard let least = values.first, let most = values.last else { return nil }
    return [least, values[values.count / 2], most].map(metric.text)
  }

  /// Returns the figures of a metric as `median (minimum to maximum)`.
  func text(of name: String) -> String {
    guard let texts = texts(of: name) else { return "-" }
    return texts[0] == texts[2] ? texts[1] : "\(texts[1]) (\(texts[0]) to \(texts[2]))"
  }

  /// The summary figures of the screen's smoothness, each as `median (minimum to maximum)`.
  fileprivate var texts: [String: String] {
    let all = runs.map { RunMetrics($0).summary.metrics }
    var texts: [String: String] = [:]
    for (index, metric) in (all.first ?? []).enumerated() {
      let values = all.map { $0[index].value }.sorted { ($0.number ?? 0) < ($1.number ?? 0) }
      let (least, most) = (values[0].text, values[values.count - 1].text)
      let median = values[values.count / 2].text
      texts[metric.name] = least == most ? median : "\(median) (\(least) to \(most))"
    }
    return texts
  }

  func addMembers(to json: inout JSONWriter) {
    json.add("device", device)
    json.add("variant", variant)
    json.add("repeats", runs.count)
    func add(_ name: StaticString, _ text: (Int64) -> String, _ figure: (RunReport) -> Int64) {
      guard let (least, median, most) = interval(figure) else { return }
      json.addArray(name) { json in
        for value in [least, median, most] { json.appendJSON(text(value)) }
      }
    }
    add("microhangs", { String($0) }) { Int64($0.microhangs) }
    add("hangs", { String($0) }) { Int64($0.hangs) }
    add("longestMs", { FixedPoint.milliseconds($0) }, \.longest)
    add("hitchMsPerSecond", { FixedPoint.milliseconds($0) }, \.hitchPerSecond)
    add("busyPercent", { FixedPoint.text($0, decimals: 1) }) { Int64($0.busyShare) }
    add("latencyP95Ms", { FixedPoint.milliseconds($0) }, \.latency.p95)
  }
}

extension SimulationReport {
  /// Returns a table of assumed and measured costs of a device; `nil` if none are measured.
  func measuredRows(_ device: String) -> [[String]]? {
    let measured = measured.filter { $0.device == device }
    guard !measured.isEmpty else { return nil }
    var rows = [[""]]
    for metric in runs.first.map({ RunMetrics($0).summary.metrics }) ?? [] {
      rows.append([metric.name])
    }
    for measured in measured {
      guard let run = run(device: device, variant: measured.variant) else { continue }
      rows[0] += ["\(run.variant), assumed", "measured, \(measured.runs.count) times"]
      let texts = measured.texts
      for (index, metric) in RunMetrics(run).summary.metrics.enumerated() {
        rows[index + 1] += [metric.value.text, texts[metric.name] ?? "-"]
      }
    }
    return rows
  }
}
