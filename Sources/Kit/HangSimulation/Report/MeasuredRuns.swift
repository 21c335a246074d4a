import JSON

/// Runs of one variant on one device in which actions and evaluations took what the real code takes on the machine that
/// simulates, times the slowdown of the device, with the device's costs of appearance and of elements on the screen.
///
/// Each repetition measures anew and differs a little, so that figures are intervals.
public struct MeasuredRuns: Sendable {
  /// The name of the device.
  public var device: String
  /// The name of the variant.
  public var variant: String
  /// One for each repetition.
  public var runs: [RunReport]

  /// The least, the median and the most of a figure.
  public func interval<Value: Comparable>(
    _ figure: (RunReport) -> Value
  ) -> (least: Value, median: Value, most: Value)? {
    let sorted = runs.map(figure).sorted()
    guard let least = sorted.first, let most = sorted.last else { return nil }
    return (least, sorted[sorted.count / 2], most)
  }
}

extension SweepReport {
  /// The runs of all seeds with costs that were measured meanwhile; `nil` if none were.
  func measuredRuns(device: String, variant: String) -> MeasuredRuns? {
    let runs = reports.flatMap(\.measured)
      .filter { $0.device == device && $0.variant == variant }.flatMap(\.runs)
    return runs.isEmpty ? nil : MeasuredRuns(device: device, variant: variant, runs: runs)
  }
}

extension MeasuredRuns {
  /// The least, the median and the most of a figure, as conditions name it; `nil` if there is nothing of it.
  func texts(of name: String) -> [String]? {
    guard let metric = try? ThresholdMetric(name) else { return nil }
    let values = runs.compactMap { metric.value(in: $0) }.sorted()
    guard let least = values.first, let most = values.last else { return nil }
    return [least, values[values.count / 2], most].map(metric.text)
  }

  /// The same as `median (minimum to maximum)`.
  func text(of name: String) -> String {
    guard let texts = texts(of: name) else { return "-" }
    return texts[0] == texts[2] ? texts[1] : "\(texts[1]) (\(texts[0]) to \(texts[2]))"
  }

  /// The figures that say how smooth the screen was, each as `median (minimum to maximum)`.
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

  func append(to json: inout JSONWriter) {
    json.appendObject { json in
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
}

extension SimulationReport {
  /// Assumed and measured costs side by side, a table of cells for a device; `nil` if none were measured.
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
