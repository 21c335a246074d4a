/// Builds an HTML page. All text is escaped.
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

  mutating func verdict(_ text: String, _ thresholds: [ThresholdReport]) {
    let (isBad, isGood) = (
      thresholds.contains(where: \.isMissed), thresholds.contains(where: \.passed)
    )
    paragraph(text, style: "verdict" + (isBad ? " bad" : isGood ? " good" : ""))
    guard !thresholds.isEmpty else { return }
    table(
      [["", "threshold", "worst", "not met in"]]
        + thresholds.map {
          [
            $0.skipped != nil ? "-" : $0.passed ? "✓" : "✗", $0.text, $0.value,
            $0.skipped.map { "skipped, \($0)" }
              ?? ($0.failures + $0.withoutData).map(\.description).joined(separator: "; "),
          ]
        }, style: "thresholds")
    for threshold in thresholds {
      for failure in threshold.explainedFailures {
        paragraph("\(threshold.text) in \(failure.location):", style: "about")
        list(failure.explanation)
      }
    }
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

  /// Adds a chart, which keeps its size and scrolls on a phone, like a wide table.
  mutating func chart(_ svg: String) { wide(svg) }

  private mutating func wide(_ content: String) {
    // A keyboard can scroll only elements that can have the focus.
    body += "<div class=\"wide\" tabindex=\"0\">\(content)</div>\n"
  }

  /// Adds content that is hidden until the summary line is opened.
  mutating func details(_ summary: String, _ content: (inout Self) -> Void) {
    body += "<details><summary>\(Self.escaped(summary))</summary>\n"
    content(&self)
    body += "</details>\n"
  }

  /// Adds a table whose columns after the first are numbers.
  mutating func figures(_ rows: [[String]]) { table(rows, style: "figures") }

  /// Adds a table. The first row contains the headings.
  mutating func table(_ rows: [[String]], style: String = "") {
    var lines = "<table class=\"\(style)\">\n"
    for (index, row) in rows.enumerated() {
      let style = row[0] == "✓" ? " class=\"good\"" : row[0] == "✗" ? " class=\"bad\"" : ""
      let cells = row.map { cell in
        let tag = index == 0 && !cell.isEmpty ? "th" : "td"
        return "<\(tag)>\(Self.escaped(cell))</\(tag)>"
      }
      lines += "<tr\(style)>" + cells.joined() + "</tr>\n"
    }
    wide(lines + "</table>")
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
    .wide:has(svg) { margin: .4em 0 }
    table { border-collapse: collapse; font-variant-numeric: tabular-nums }
    th { color: var(--faint); font-weight: 500 }
    th, td { border-bottom: 1px solid var(--line); padding: .2em .8em; text-align: left }
    :is(td, th) + :is(td, th) { white-space: nowrap }
    .figures :is(td, th) + :is(td, th) { text-align: right }
    .figures tr:hover, details tr:hover { background: color-mix(in srgb, var(--line) 40%, transparent) }
    details { margin: .6em 0 } summary { cursor: pointer; font-weight: 600 }
    .thresholds :is(td, th):is(:nth-child(2), :nth-child(4)) { white-space: normal; overflow-wrap: break-word }
    .about { margin: .8em 0 0 } .about + ul { color: var(--faint) }
    @media (max-width: 40em) {
      .thresholds tr { display: grid; grid-template-columns: 1.6em 1fr; padding: .3em 0;
                       border-bottom: 1px solid var(--line) }
      .thresholds tr:first-child { display: none }
      .thresholds td:nth-child(n) { white-space: normal; overflow-wrap: anywhere }
      .thresholds td { border: 0; padding: 0 .2em; grid-column: 2 }
      .thresholds td:first-child { grid-column: 1; grid-row: 1 / span 3 } }
    svg { display: block; height: auto; font: 12px system-ui, sans-serif;
          fill: var(--text) }
    svg .range { stroke: var(--faint); stroke-width: 2 } svg .interval { fill: #4f81bd }
    svg .median { fill: var(--text); stroke: var(--back); stroke-width: 1.5 }
    svg .axis { stroke: var(--line) } svg .label { fill: var(--faint) } svg .hang { fill: var(--hang) }
    svg .fault { fill: #f79646; opacity: .22 } svg .events { fill: var(--faint); opacity: .5 }
    </style></head><body><main>
    \(body)</main></body></html>

    """
  }
}
