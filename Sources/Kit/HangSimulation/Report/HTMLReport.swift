extension SimulationReport {
  /// The report as one self-contained HTML file: the verdict, tables, and charts as inline SVG.
  public var html: String {
    var page = HTMLPage(title: "\(scenario), seed \(seed)")
    page.heading(1, scenario)
    page.paragraph(
      verdict, style: thresholds.isEmpty ? "verdict" : isPassed ? "verdict good" : "verdict bad")
    if !thresholds.isEmpty {
      page.table(
        [["", "threshold", "worst", "not met in"]]
          + thresholds.map {
            [
              $0.passed ? "✓" : "✗", $0.text, $0.value,
              $0.failures.map(\.description).joined(separator: "; "),
            ]
          })
    }
    page.paragraph(
      "Seed \(seed), \(duration.milliseconds / 1_000) s of virtual time, simulator \(version), "
        + "digest \(digest).")
    if !parameters.isEmpty {
      page.paragraph("With " + parameters.map { "\($0.key)=\($0.value)" }.joined(separator: ", "))
    }
    page.heading(2, "Microhangs and hangs")
    page.raw(HangChart.svg(self))
    for device in devices {
      let runs = runs.filter { $0.device == device }
      page.heading(2, device)
      page.raw(TimelineChart.svg(runs, duration: duration.nanoseconds))
      for run in runs where !run.longestTurns.isEmpty {
        page.heading(3, "\(run.variant): longest turns")
        page.list(run.longestTurns.prefix(Self.turnsShown).map(\.line))
      }
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

  private static let turnsShown = 3
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

  mutating func paragraph(_ text: String, style: String = "") {
    let attribute = style.isEmpty ? "" : " class=\"\(style)\""
    body += "<p\(attribute)>\(Self.escaped(text))</p>\n"
  }

  mutating func list(_ items: [String]) {
    body += "<ul>" + items.map { "<li>\(Self.escaped($0))</li>" }.joined() + "</ul>\n"
  }

  mutating func raw(_ html: String) { body += html + "\n" }

  /// The first row contains the headings.
  mutating func table(_ rows: [[String]]) {
    // Wide tables scroll by themselves on a phone.
    body += "<div class=\"wide\"><table>\n"
    for (index, row) in rows.enumerated() {
      let tag = index == 0 ? "th" : "td"
      let style = row[0] == "✓" ? " class=\"good\"" : row[0] == "✗" ? " class=\"bad\"" : ""
      body +=
        "<tr\(style)>" + row.map { "<\(tag)>\(Self.escaped($0))</\(tag)>" }.joined() + "</tr>\n"
    }
    body += "</table></div>\n"
  }

  var text: String {
    """
    <!doctype html>
    <html lang="en"><head><meta charset="utf-8"><title>\(Self.escaped(title))</title>
    <meta name="viewport" content="width=device-width">
    <style>
    :root { color-scheme: light dark; --text: #1d2126; --faint: #626b75; --line: #d9dee3; --back: #fff;
            --good: #18794e; --bad: #c62a2f; --hang: #1d2126 }
    @media (prefers-color-scheme: dark) {
      :root { --text: #e4e8ec; --faint: #98a2ad; --line: #343b43; --back: #14181d; --good: #4cc38a;
              --bad: #ff8b8b; --hang: #e4e8ec } }
    body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 64em; padding: 0 1em;
           color: var(--text); background: var(--back) }
    h1 { margin: 0 } h2 { margin: 2em 0 .4em } h3 { font-size: 1em; margin: 1em 0 0 }
    ul { margin: .2em 0; padding-left: 1.2em }
    .verdict { font-size: 1.4em; font-weight: 600; margin: .2em 0 .8em }
    .good.verdict, .good td:first-child { color: var(--good) }
    .bad.verdict, .bad td:first-child, .bad td:nth-child(3) { color: var(--bad) }
    .wide { overflow-x: auto; margin: .6em 0 1.4em }
    table { border-collapse: collapse; font-variant-numeric: tabular-nums }
    th { color: var(--faint); font-weight: 500 }
    th, td { border-bottom: 1px solid var(--line); padding: .2em .8em; text-align: left }
    td + td, th + th { white-space: nowrap }
    .good td:last-child, .bad td:last-child { white-space: normal }
    svg { display: block; max-width: 100%; height: auto; margin: .4em 0; font: 12px system-ui, sans-serif;
          fill: var(--text) }
    svg .axis { stroke: var(--line) } svg .label { fill: var(--faint) } svg .hang { fill: var(--hang) }
    </style></head><body>
    \(body)</body></html>

    """
  }
}
