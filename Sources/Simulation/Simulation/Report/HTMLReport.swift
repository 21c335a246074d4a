extension SimulationReport {
  /// The report as one self-contained HTML file: tables, and charts as inline SVG.
  package var html: String {
    var page = HTMLPage(title: "\(scenario), seed \(seed)")
    page.heading(1, scenario)
    page.paragraph(
      "Seed \(seed), \(duration.milliseconds / 1_000) s of virtual time, simulator \(version), "
        + "digest \(digest).")
    if !parameters.isEmpty {
      page.paragraph("With " + parameters.map { "\($0.key)=\($0.value)" }.joined(separator: ", "))
    }
    page.heading(2, "Microhangs and hangs")
    page.raw(HangChart.svg(self))
    if !thresholds.isEmpty {
      page.heading(2, "Thresholds")
      page.table(
        [["", "threshold", "worst", "not met in"]]
          + thresholds.map {
            [$0.passed ? "✓" : "✗", $0.text, $0.value, $0.failures.joined(separator: "; ")]
          })
    }
    for device in devices {
      let runs = runs.filter { $0.device == device }
      page.heading(2, device)
      page.raw(TimelineChart.svg(runs, duration: duration.nanoseconds))
      let metrics = runs.map(RunMetrics.init)
      page.table(
        [[""] + runs.map(\.variant)]
          + (metrics.first?.metrics.map(\.name) ?? []).map { name in
            [name] + metrics.map { $0.metrics.first { $0.name == name }?.value.text ?? "-" }
          })
      for run in runs {
        page.heading(3, "\(run.variant): why views were evaluated")
        page.table(
          [["view", "cause", "action", "field", "times"]]
            + run.views.flatMap { view in
              view.causes.prefix(5).map {
                [view.name, $0.kind, $0.action ?? "", $0.field ?? "", String($0.count)]
              }
            })
      }
    }
    return page.text
  }
}

/// Builds a page; text is escaped.
struct HTMLPage {
  private var body = ""
  private let title: String

  init(title: String) { self.title = title }

  static func escaped(_ text: String) -> String {
    var result = ""
    for character in text.unicodeScalars {
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.unicodeScalars.append(character)
      }
    }
    return result
  }

  mutating func heading(_ level: Int, _ text: String) {
    body += "<h\(level)>\(Self.escaped(text))</h\(level)>\n"
  }

  mutating func paragraph(_ text: String) { body += "<p>\(Self.escaped(text))</p>\n" }

  mutating func raw(_ html: String) { body += html + "\n" }

  /// The first row contains the headings.
  mutating func table(_ rows: [[String]]) {
    body += "<table>\n"
    for (index, row) in rows.enumerated() {
      let tag = index == 0 ? "th" : "td"
      body += "<tr>" + row.map { "<\(tag)>\(Self.escaped($0))</\(tag)>" }.joined() + "</tr>\n"
    }
    body += "</table>\n"
  }

  var text: String {
    """
    <!doctype html>
    <html lang="en"><head><meta charset="utf-8"><title>\(Self.escaped(title))</title>
    <style>
    body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 64em; padding: 0 1em;
           color: #222; background: #fff }
    table { border-collapse: collapse; margin: .6em 0 1.4em; font-variant-numeric: tabular-nums }
    th, td { border-bottom: 1px solid #ddd; padding: .15em .8em; text-align: right }
    th:first-child, td:first-child { text-align: left }
    svg { display: block; width: 100%; height: auto; margin: .4em 0; font: 11px system-ui, sans-serif }
    </style></head><body>
    \(body)</body></html>

    """
  }
}
