extension SweepReport {
  /// The report as one self-contained HTML file: the verdict, then how the figures of each run are distributed over the
  /// seeds.
  public var html: String {
    var page = HTMLPage(title: reports.first?.scenario ?? "sweep")
    page.heading(1, reports.first?.scenario ?? "")
    page.verdict(verdict, thresholds)
    for line in about { page.paragraph(line) }
    page.chart(DistributionChart.legend)
    for run in reports.first?.runs ?? [] {
      let rows = Self.metrics.compactMap { metric -> (String, SeedDistribution)? in
        (try? distribution(of: metric, device: run.device, variant: run.variant)).map {
          (metric, $0)
        }
      }
      page.heading(2, "\(run.device), \(run.variant)")
      page.chart(DistributionChart.svg(rows))
      page.details("As a table") {
        $0.figures(
          [["", "median", "95 % interval of it", "lowest", "highest", "seed of the highest"]]
            + rows.map { name, row in
              [
                name, row.median, row.interval.joined(separator: " to "), row.lowest, row.highest,
                String(row.worstSeed),
              ]
            })
      }
    }
    return page.text
  }
}

/// A row for each figure, from 0 to its highest: a line from the lowest seed to the highest, a bar where the median of all
/// seeds is, and a dot at that of these.
private enum DistributionChart {
  private static let (width, rowHeight) = (480, 30)

  static let legend = """
    <svg viewBox="0 0 600 20" width="600" role="img" aria-label="legend">\
    <line class="range" x1="4" x2="34" y1="10" y2="10"/><text x="42" y="14">lowest to highest seed</text>\
    <rect class="interval" x="204" y="5" width="30" height="10"/><text x="242" y="14">95 % interval of the median</text>\
    <circle class="median" cx="444" cy="10" r="4"/><text x="454" y="14">median</text></svg>
    """

  static func svg(_ rows: [(name: String, row: SeedDistribution)]) -> String {
    var svg = ""
    // As wide as the longest names and figures.
    let left = 16 + (rows.map { SVGText.width($0.name) }.max() ?? 0)
    var right = 0
    for (index, (name, row)) in rows.enumerated() {
      let y = rowHeight * index + 18
      let highest = max(1, row.marks[4])
      let x = row.marks.map { left + Int($0 * Int64(width) / highest) }
      let (median, interval) = (row.median, row.interval.joined(separator: " to "))
      let label = HTMLPage.escaped(
        "\(name): median \(median), with 95 % \(interval), from \(row.lowest) to \(row.highest)")
      svg += "<g><title>\(label)</title>"
      svg +=
        "<text class=\"label\" x=\"\(left - 12)\" y=\"\(y + 4)\" text-anchor=\"end\">\(name)</text>"
      svg += "<line class=\"axis\" x1=\"\(left)\" x2=\"\(left + width)\" y1=\"\(y)\" y2=\"\(y)\"/>"
      svg += "<line class=\"range\" x1=\"\(x[0])\" x2=\"\(x[4])\" y1=\"\(y)\" y2=\"\(y)\"/>"
      svg +=
        "<rect class=\"interval\" x=\"\(x[1])\" y=\"\(y - 5)\" width=\"\(max(2, x[3] - x[1]))\" height=\"10\"/>"
      svg += "<circle class=\"median\" cx=\"\(x[2])\" cy=\"\(y)\" r=\"4\"/>"
      let rest = " (\(interval)), at most \(row.highest)"
      svg += "<text x=\"\(left + width + 14)\" y=\"\(y + 4)\">\(median)"
      svg += "<tspan class=\"label\">\(rest)</tspan></text></g>"
      right = max(right, 14 + SVGText.width(median + rest))
    }
    let (columns, height) = (left + width + right, rowHeight * rows.count + 6)
    return
      "<svg viewBox=\"0 0 \(columns) \(height)\" width=\"\(columns)\" role=\"img\" aria-label=\"distributions\">\(svg)</svg>"
  }
}
