package import HangSimulation

/// What a verb found, in the forms in which it can be given.
package struct CommandOutcome: Sendable {
  /// What was simulated.
  package var title: String
  /// The report for people, the verdict first.
  package var lines: [String]
  /// The report for programs, on one line.
  package var json: String
  package var thresholds: [ThresholdReport]

  /// Thresholds that were not met, one line each.
  package var missed: [String] { thresholds.filter { !$0.passed }.map(\.line) }

  package init(title: String, lines: [String], json: String, thresholds: [ThresholdReport]) {
    self.title = title
    self.lines = lines
    self.json = json
    self.thresholds = thresholds
  }

  init(_ report: SimulationReport) {
    title = report.scenario
    lines = report.lines
    json = report.json
    thresholds = report.thresholds
  }

  init(_ found: [SlowdownReport], title: String) {
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

  package init(_ found: HereCalibration) {
    title = "calibration"
    lines = found.lines
    json = found.json
    thresholds = []
  }

  /// For services that show the tests of a build: each threshold is a test.
  var junit: String {
    let failed = thresholds.count { !$0.passed }
    let name = "name=\"\(Self.escaped(title))\""
    var text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <testsuites tests="\(thresholds.count)" failures="\(failed)">
        <testsuite \(name) tests="\(thresholds.count)" failures="\(failed)">

      """
    for threshold in thresholds {
      text +=
        "    <testcase classname=\"\(Self.escaped(title))\" name=\"\(Self.escaped(threshold.text))\""
      if threshold.passed {
        text += "/>\n"
        continue
      }
      let reasons = threshold.failures.map(\.description)
      text += ">\n      <failure message=\"\(Self.escaped(reasons.first ?? ""))\">"
      text += Self.escaped(reasons.joined(separator: "\n")) + "</failure>\n    </testcase>\n"
    }
    return text + "  </testsuite>\n</testsuites>\n"
  }

  /// For comments on changes and for summaries of builds.
  var markdown: String {
    func cell(_ text: String) -> String { text.replacing("|", with: "\\|") }
    var text = "## \(title)\n\n**\(lines.first ?? "")**\n\n"
    if !thresholds.isEmpty {
      text += "| | threshold | worst | not met in |\n|---|---|---|---|\n"
      for threshold in thresholds {
        let failures = threshold.failures.map(\.description).joined(separator: "; ")
        text += "| \(threshold.passed ? "✓" : "✗") | `\(cell(threshold.text))` "
        text += "| \(cell(threshold.value)) | \(cell(failures)) |\n"
      }
      text += "\n"
    }
    let rest = lines.dropFirst(thresholds.isEmpty ? 1 : thresholds.count + 2)
    return text + "```text\n" + rest.joined(separator: "\n") + "\n```\n"
  }

  /// Text in XML, which allows no control characters.
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
