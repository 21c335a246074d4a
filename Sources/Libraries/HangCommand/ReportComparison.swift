import Foundation
import HangSimulation
import JSON
import Wording

#if canImport(ArgumentParser)
  import ArgumentParser
#endif

/// A comparison of two report files, side by side.
package struct ReportComparison {
  private let pairs: [(base: RunMetrics, run: RunMetrics)]
  private let base: ReportFile
  private let report: ReportFile
  /// The number of runs that only one of the reports contains.
  package let alone: Int

  /// Compares two files written by `simulate --json` or `sweep --json`, each `FILE` or
  /// `FILE:VARIANT`.
  /// - Throws: `FileProblem`.
  package init(_ first: String, _ second: String) throws {
    let (base, report) = (try ReportFile(first), try ReportFile(second))
    let isMatched = base.variant == nil && report.variant == nil
    pairs = base.figures.runs.compactMap { run in
      report.figures.runs.first {
        $0.device == run.device && (!isMatched || $0.variant == run.variant)
      }.map { (run, $0) }
    }
    guard !pairs.isEmpty else {
      throw FileProblem(
        description: "\(first) and \(second) have no run in common", isBadData: true)
    }
    (self.base, self.report) = (base, report)
    alone = base.figures.runs.count + report.figures.runs.count - 2 * pairs.count
  }

  /// Returns the comparison. `thresholds` are conditions for the runs of the second report, such as
  /// `microhangs <= base * 1.1`.
  /// - Throws: `ValidationError`.
  package func outcome(thresholds: [String]) throws -> CommandOutcome {
    let isMatched = base.variant == nil && report.variant == nil
    let found = try thresholds.map { text in
      let threshold = try Threshold(option: "--threshold", text)
      do throws(ThresholdProblem) { try threshold.checkScope(report.figures, base.figures) } catch {
        throw ValidationError("--threshold '\(text)': \(error.message)")
      }
      return threshold.check(report.figures, base: base.figures, matchingVariants: isMatched)
    }
    var lines = found.isEmpty ? [] : found.summary + [""]
    lines += pairs.flatMap(Self.lines)
    return CommandOutcome(
      title: "comparison", lines: lines, json: json(found), thresholds: found)
  }

  private static func lines(_ left: RunMetrics, _ right: RunMetrics) -> [String] {
    let headings =
      left.variant == right.variant
      ? ["\(left.variant) (a)", "\(right.variant) (b)"] : [left.variant, right.variant]
    return [left.device] + RunComparison.lines([left, right], headings: headings) + [""]
  }

  /// Returns an array of runs; with thresholds, an object with the runs and the thresholds.
  private func json(_ thresholds: [ThresholdReport]) -> String {
    let runs = JSONValue.array(pairs.map(Self.json))
    guard !thresholds.isEmpty else { return runs.description }
    return "{\"runs\":\(runs.description),\"thresholds\":\(thresholds.json)}"
  }

  private static func json(_ left: RunMetrics, _ right: RunMetrics) -> JSONValue {
    let metrics = left.metrics.map { metric -> JSONValue in
      let other = right.metrics.first { $0.name == metric.name }?.value ?? .none
      return [
        "name": .string(metric.name), "values": [metric.value.json, other.json],
        "unit": .string(metric.value.unit),
      ]
    }
    return [
      "device": .string(left.device),
      "variants": [.string(left.variant), .string(right.variant)],
      "metrics": .array(metrics),
    ]
  }
}

extension RunMetrics.Value {
  fileprivate var json: JSONValue {
    switch self {
    case .count(let number): .integer(Int64(number))
    case .time(let nanoseconds): .number(Double(nanoseconds) / 1e6)
    case .share(let thousandths): .number(Double(thousandths) / 10)
    case .none: .null
    }
  }

  fileprivate var unit: String {
    switch self {
    case .count, .none: "count"
    case .time: "ms"
    case .share: "%"
    }
  }
}

/// A report file, or its runs of one variant.
private struct ReportFile {
  /// The chosen variant; `nil` for all variants.
  let variant: String?
  let figures: ReportFigures

  /// Reads a report from `name`: a file, or a file and a variant separated by a colon.
  init(_ name: String) throws {
    var path = name
    var variant: String?
    if !FileManager.default.fileExists(atPath: name), let colon = name.lastIndex(of: ":") {
      path = String(name[..<colon])
      variant = String(name[name.index(after: colon)...])
    }
    func problem(_ text: String) -> FileProblem {
      FileProblem(description: "\(path): \(text)", isBadData: true)
    }
    guard let data = FileManager.default.contents(atPath: path) else {
      throw problem("cannot be read: \(Self.reason(path))")
    }
    let json: JSONValue
    do { json = try JSONValue(parsing: String(decoding: data, as: UTF8.self)) } catch {
      throw problem("is not valid JSON: \(error)")
    }
    guard let figures = ReportFigures(json) else {
      throw problem("is not a report; 'simulate' and 'sweep' write one with --json")
    }
    self.variant = variant
    self.figures = variant.map(figures.only) ?? figures
    if let variant, self.figures.runs.isEmpty {
      let variants = Set(figures.runs.map(\.variant)).sorted()
      throw problem(
        "has no run of the variant '\(variant)'" + Spelling.hint(for: variant, among: variants))
    }
  }

  private static func reason(_ path: String) -> String {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      return "No such file or directory"
    }
    return isFolder.boolValue ? "Is a directory" : "Permission denied"
  }
}
