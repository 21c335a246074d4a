package import HangSimulation

/// The result of a verb in all its output formats.
package struct CommandOutcome: Sendable, Equatable {
  /// The name of the plan.
  package var title: String
  /// The text report, starting with the verdict.
  package var lines: [String]
  /// The JSON report as one line.
  package var json: String
  package var thresholds: [ThresholdReport]
  /// Work that grows with the state, and effects that hold the thread; see ``shownWork``.
  package var realWork: [String] = []
  var hasMeasuredCosts = false
  /// Messages in addition to the report.
  package var notes: [String] = []

  /// The thresholds that were not met, one line each.
  package var missed: [String] { thresholds.filter(\.isMissed).map(\.line) }

  package init(title: String, lines: [String], json: String, thresholds: [ThresholdReport]) {
    self.title = title
    self.lines = lines
    self.json = json
    self.thresholds = thresholds
  }

  package init(_ report: SimulationReport) {
    title = report.scenario
    lines = report.lines
    json = report.json
    thresholds = report.thresholds
    realWork = report.realWork
    hasMeasuredCosts = !report.measured.isEmpty
  }

  package init(_ report: SweepReport, title: String) {
    self.title = title
    lines = report.lines
    json = report.json
    thresholds = report.thresholds
    // All seeds have similar findings, with different figures.
    realWork = report.reports.first { !$0.realWork.isEmpty }?.realWork ?? []
    hasMeasuredCosts = report.reports.contains { !$0.measured.isEmpty }
  }

  init(_ found: [SearchReport], title: String) {
    self.title = title
    lines = found.map(\.line)
    json = found.json
    thresholds = []
  }

  package init(_ calibration: Calibration) {
    title = "calibration"
    lines = calibration.lines
    json = calibration.json
    thresholds = []
  }

  package init(_ found: LocalCalibration) {
    title = "calibration"
    lines = found.lines
    json = found.json
    thresholds = []
  }

  /// The lines about real work in the JUnit file. These lines are measured, but the JUnit files of
  /// two runs of one plan must be equal, byte for byte. The lines are therefore shown only if
  /// measured figures are requested, by a threshold about growth or by measured costs.
  private var shownWork: [String] {
    hasMeasuredCosts || thresholds.contains(where: \.isOfGrowth) ? realWork : []
  }

  /// The report as JUnit XML, for build services that display tests. Each threshold is a test.
  package var junit: String {
    let counts =
      "tests=\"\(thresholds.count)\" failures=\"\(thresholds.count(where: \.isMissed))\""
      + " skipped=\"\(thresholds.count { $0.skipped != nil })\""
    let name = "name=\"\(Self.escaped(title))\""
    var text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <testsuites \(counts)>
        <testsuite \(name) \(counts)>

      """
    for threshold in thresholds {
      text +=
        "    <testcase classname=\"\(Self.escaped(title))\" name=\"\(Self.escaped(threshold.text))\""
      if threshold.passed {
        text += "/>\n"
        continue
      }
      if let skipped = threshold.skipped {
        text += "><skipped message=\"\(Self.escaped(skipped))\"/></testcase>\n"
        continue
      }
      let reasons = threshold.failures.map(\.description) + threshold.explanation
      text += ">\n      <failure message=\"\(Self.escaped(reasons.first ?? ""))\">"
      text += Self.escaped(reasons.joined(separator: "\n")) + "</failure>\n    </testcase>\n"
    }
    if !shownWork.isEmpty {
      text += "    <system-out>\(Self.escaped(shownWork.joined(separator: "\n")))</system-out>\n"
    }
    return text + "  </testsuite>\n</testsuites>\n"
  }

  /// The report as Markdown, for comments on changes and summaries of builds.
  var markdown: String {
    func cell(_ text: String) -> String { text.replacing("|", with: "\\|") }
    var text = "## \(title)\n\n**\(lines.first ?? "")**\n\n"
    if !thresholds.isEmpty {
      text += "| | threshold | worst | not met in |\n|---|---|---|---|\n"
      for threshold in thresholds {
        let failures =
          threshold.skipped.map { "skipped, \($0)" }
          ?? (threshold.failures + threshold.withoutData).map(\.description)
          .joined(separator: "; ")
        let mark = threshold.skipped != nil ? "-" : threshold.passed ? "✓" : "✗"
        text += "| \(mark) | `\(cell(threshold.text))` "
        text += "| \(cell(threshold.value)) | \(cell(failures)) |\n"
      }
      text += "\n"
    }
    // The lines before `rest` are the verdict and the thresholds, which the table already contains.
    let rest = lines.dropFirst(1 + thresholds.count).drop { $0.isEmpty }
    return text + "```text\n" + rest.joined(separator: "\n") + "\n```\n"
  }

  /// Escapes text for XML, which allows no control characters.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\n", "\t": result += "&#\(scalar.value);"
      case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF:
        result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
