extension SweepReport {
  /// The report as a single self-contained HTML file: the verdict, and the distribution of each
  /// run's figures over the seeds.
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
      let measured = measuredRuns(device: run.device, variant: run.variant)
      page.heading(2, "\(run.device), \(run.variant)")
      page.chart(DistributionChart.svg(rows))
      page.details("As a table") {
        $0.figures(
          [
            [
              "", "median", "95 % interval of the median", "lowest", "highest",
              "seed of the highest",
            ]
          ]
            + rows.map { name, row in
              [
                name, row.median, row.interval.joined(separator: " to "), row.lowest, row.highest,
                String(row.worstSeed),
              ]
            })
      }
      if let measured {
        page.heading(3, "With costs measured on this machine: median (minimum to maximum)")
        page.figures([["", "measured"]] + rows.map { [$0.0, measured.text(of: $0.0)] })
      }
    }
    return page.text
  }
}

/// A chart with a row for each figure, scaled from 0 to its highest value: a line from the lowest
/// to the highest seed, a bar for the median's confidence interval, and a dot at the median.
private enum DistributionChart {
  private static let rowHeight = 30

  static let legend = """
    <svg viewBox="0 0 600 20" width="600" role="img" aria-label="legend">\
    <line class="range" x1="4" x2="34" y1="10" y2="10"/><text x="42" y="14">lowest to highest seed</text>\
    <rect class="interval" x="204" y="5" width="30" height="10"/><text x="242" y="14">95 % interval of the median</text>\
    <circle class="median" cx="444" cy="10" r="4"/><text x="454" y="14">median</text></svg>
    """

  /// The width of the page's text, in pixels.
  private static let most = 940

  static func svg(_ rows: [(name: String, row: SeedDistribution)]) -> String {
    // Names and figures get the space that they need, and the lines get the rest.
    let left = 16 + (rows.map { SVGText.width($0.name) }.max() ?? 0)
    let right = 14 + (rows.map { SVGText.width($0.row.median + rest(of: $0.row)) }.max() ?? 0)
    let width = max(200, most - left - right)
    let svg = rows.enumerated().map { index, row in
      line(row.name, row.row, left, width, y: rowHeight * index + 18)
    }.joined()
    let (columns, height) = (left + width + right, rowHeight * rows.count + 6)
    return
      "<svg viewBox=\"0 0 \(columns) \(height)\" width=\"\(columns)\" role=\"img\" aria-label=\"distributions\">\(svg)</svg>"
  }

  private static func rest(of row: SeedDistribution) -> String {
    " (\(row.interval.joined(separator: " to "))), at most \(row.highest)"
  }

  private static func line(
    _ name: String, _ row: SeedDistribution, _ left: Int, _ width: Int, y: Int
  ) -> String {
    let highest = max(1, row.marks[4])
    let x = row.marks.map { left + Int(Int128($0) * Int128(width) / Int128(highest)) }
    let label = HTMLPage.escaped(
      "\(name): median \(row.median), with 95 % \(row.interval.joined(separator: " to ")), "
        + "from \(row.lowest) to \(row.highest)")
    return "<g><title>\(label)</title>"
      + "<text class=\"label\" x=\"\(left - 12)\" y=\"\(y + 4)\" text-anchor=\"end\">\(name)</text>"
      + "<line class=\"axis\" x1=\"\(left)\" x2=\"\(left + width)\" y1=\"\(y)\" y2=\"\(y)\"/>"
      + "<line class=\"range\" x1=\"\(x[0])\" x2=\"\(x[4])\" y1=\"\(y)\" y2=\"\(y)\"/>"
      + "<rect class=\"interval\" x=\"\(x[1])\" y=\"\(y - 5)\" width=\"\(max(2, x[3] - x[1]))\" height=\"10\"/>"
      + "<circle class=\"median\" cx=\"\(x[2])\" cy=\"\(y)\" r=\"4\"/>"
      + "<text x=\"\(left + width + 14)\" y=\"\(y + 4)\">\(row.median)"
      + "<tspan class=\"label\">\(rest(of: row))</tspan></text></g>"
  }
}
