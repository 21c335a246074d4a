import JSON
import Wording

extension SweepReport {
  static let metrics = [
    "microhangs", "hangs", "turns.over(250ms)", "longest", "frame.p95", "frames.frozen", "hitch",
    "busy", "latency.p95", "frames",
  ]

  /// The text report: the verdict, the thresholds, and the distribution of each figure.
  public var lines: [String] {
    var lines = heading(verdict)
    for run in reports.first?.runs ?? [] {
      let measured = measuredRuns(device: run.device, variant: run.variant)
      var rows = [
        ["", "median", "95 % interval of the median", "lowest", "highest", "seed of the highest"]
          + (measured == nil ? [] : ["measured: median (minimum to maximum)"])
      ]
      for metric in Self.metrics {
        guard let row = try? distribution(of: metric, device: run.device, variant: run.variant)
        else { continue }
        rows.append(
          [
            metric, row.median, row.interval.joined(separator: " to "), row.lowest, row.highest,
            row.lowest == row.highest ? "all" : String(row.worstSeed),
          ] + (measured.map { [$0.text(of: metric)] } ?? []))
      }
      lines += ["", "\(run.device), \(run.variant)"] + TextColumns.lines(rows)
    }
    return lines
  }

  /// The verdict in a few words.
  public var verdict: String {
    if let verdict = thresholds.verdict { return verdict }
    let hanging = reports.count { $0.runs.contains { $0.hangs > 0 } }
    return "\(hanging) of \(reports.count) seed\(reports.count == 1 ? "" : "s") with a hang"
  }

  private func heading(_ verdict: String) -> [String] {
    [verdict] + thresholds.lines + (thresholds.isEmpty ? [] : [""]) + about
  }

  var about: [String] {
    guard let first = reports.first, let last = reports.last else { return [] }
    let seconds = FixedPoint.text(first.duration.milliseconds, decimals: 3, trimmed: true)
    let sentence =
      "\(first.scenario), \(reports.count) seed\(reports.count == 1 ? "" : "s") from \(first.seed) "
      + "to \(last.seed), \(seconds) s each, simulator \(first.version), digest \(digest)"
    let areEqual = reports.count > 1 && reports.allSatisfy { $0.digest == first.digest }
    return [sentence]
      + (areEqual ? ["All seeds gave the same result: nothing depends on the seed."] : [])
  }

  /// The report as one line of JSON, in a fixed order. Figures include their units.
  public var json: String {
    JSONWriter.text { json in
      append(to: &json)
      json.addObjects("runs", reports.first?.runs ?? []) { run, json in
        let measured = measuredRuns(device: run.device, variant: run.variant)
        json.add("device", run.device)
        json.add("variant", run.variant)
        json.addObject("metrics") { json in
          for metric in recordedMetrics {
            guard
              let row = try? distribution(
                of: metric, device: run.device, variant: run.variant)
            else { continue }
            json.name(text: metric)
            row.append(measured?.texts(of: metric), to: &json)
          }
        }
      }
    }
  }

  /// The metrics in the JSON report: the metrics of the tables and of the thresholds.
  private var recordedMetrics: [String] {
    var names = Self.metrics
    for report in thresholds {
      guard let name = (try? Threshold(report.text))?.metric.name, !names.contains(name) else {
        continue
      }
      names.append(name)
    }
    return names
  }

  private func append(to json: inout JSONWriter) {
    json.add("version", reports.first?.version)
    json.add("scenario", reports.first?.scenario)
    json.addArray("seeds") { json in
      for report in reports { json.appendJSON(String(report.seed)) }
    }
    json.add("digest", digest)
    json.addObjects("thresholds", thresholds) { $0.addMembers(to: &$1) }
  }
}

extension SeedDistribution {
  /// - Parameter measured: The minimum, median, and maximum with measured costs.
  fileprivate func append(_ measured: [String]?, to json: inout JSONWriter) {
    json.appendObject { json in
      json.add("median", median)
      json.addTexts("interval", interval)
      json.add("lowest", lowest)
      json.add("highest", highest)
      json.addJSON("worstSeed", String(worstSeed))
      json.addArray("values") { json in for value in values { json.appendJSON(value) } }
      if let measured { json.addTexts("measured", measured) }
    }
  }
}

// MARK: Variants by pairs

extension SweepReport {
  /// The difference of a figure between the first variant and another.
  private struct Difference {
    var device: String
    var variants: (before: String, after: String)
    var metric: String
    var means: (before: String, after: String)
    var comparison: PairedComparison
    var isNone: Bool

    var verdict: String {
      if isNone { return "no difference" }
      if !comparison.canTell { return "too few seeds" }
      return comparison.isMoreThanNoise ? "more than noise" : "may be noise"
    }

    var change: String {
      if means.before == means.after { return "" }
      if comparison.isFromZero { return "new" }
      let thousandths = Int64((comparison.change * 1_000).rounded())
      return (thousandths > 0 ? "+" : "") + FixedPoint.text(thousandths, decimals: 1) + " %"
    }

    var probability: String {
      FixedPoint.text(Int64((comparison.probability * 10_000).rounded()), decimals: 4)
    }
  }

  private var differences: [Difference] {
    guard let runs = reports.first?.runs, let before = runs.first?.variant else { return [] }
    return runs.filter { $0.variant != before }.flatMap { run in
      Self.metrics.compactMap { name -> Difference? in
        guard let metric = try? ThresholdMetric(name),
          let pairs = pairs(of: metric, before, run.variant, run.device)
        else { return nil }
        func mean(_ value: KeyPath<(before: Int64, after: Int64), Int64>) -> String {
          let sum = pairs.reduce(Int128(0)) { $0 + Int128($1[keyPath: value]) }
          return metric.text(Int64(sum / Int128(pairs.count)))
        }
        return Difference(
          device: run.device, variants: (before, run.variant), metric: name,
          means: (mean(\.before), mean(\.after)),
          comparison: PairedComparison(pairs.map { (Double($0.before), Double($0.after)) }),
          isNone: pairs.allSatisfy { $0.before == $0.after })
      }
    }
  }

  private func comparisonVerdict(_ differences: [Difference]) -> String {
    guard reports.count >= PairedComparison.fewestPairs else {
      return
        "Too few seeds to detect a difference: at least \(PairedComparison.fewestPairs) are needed"
    }
    let clear = differences.count { $0.comparison.isMoreThanNoise }
    return "\(clear) of \(differences.count) figures differ by more than noise"
  }

  /// A comparison of the other variants with the first, seed by seed, as text.
  public var comparisonLines: [String] {
    let differences = differences
    var lines = heading(thresholds.verdict ?? comparisonVerdict(differences))
    var rows: [[String]] = []
    var title: [String] = []
    for difference in differences {
      let run = [difference.device, difference.variants.before, difference.variants.after]
      if run != title {
        lines += TextColumns.lines(rows)
        lines += ["", "\(run[0]): mean of all seeds"]
        rows = [["", run[1], run[2], "change", "by chance", ""]]
        title = run
      }
      rows.append([
        difference.metric, difference.means.before, difference.means.after, difference.change,
        difference.isNone ? "" : difference.probability, difference.verdict,
      ])
    }
    return lines + TextColumns.lines(rows) + [
      "",
      "'by chance': the probability that seeds alone cause such a difference; below 0.05, "
        + "with \(PairedComparison.fewestPairs) seeds or more, the difference is more than noise.",
    ]
  }

  /// The comparison as one line of JSON.
  public var comparisonJSON: String {
    JSONWriter.text { json in
      append(to: &json)
      json.addObjects("differences", differences) { difference, json in
        json.add("device", difference.device)
        json.addTexts("variants", [difference.variants.before, difference.variants.after])
        json.add("metric", difference.metric)
        json.addTexts("means", [difference.means.before, difference.means.after])
        json.add("change", difference.comparison.change)
        json.add("probability", difference.comparison.probability)
        json.add("isMoreThanNoise", difference.comparison.isMoreThanNoise)
      }
    }
  }
}
