extension SimulationReport {
  /// The report as one self-contained HTML file: the verdict, tables, and charts as inline SVG.
  public var html: String {
    var page = HTMLPage(title: "\(scenario), seed \(seed)")
    page.heading(1, scenario)
    page.verdict(verdict, thresholds)
    page.paragraph(
      "Seed \(seed), \(duration.milliseconds / 1_000) s of virtual time, simulator \(version), "
        + "digest \(digest).")
    if !parameters.isEmpty {
      page.paragraph("With " + parameters.map { "\($0.key)=\($0.value)" }.joined(separator: ", "))
    }
    addFindings(to: &page)
    if !realWork.isEmpty {
      page.heading(2, "Real work beyond the assumed costs")
      page.list(realWork)
    }
    page.heading(2, "Microhangs and hangs")
    page.chart(HangChart.svg(self))
    for device in devices {
      let runs = runs.filter { $0.device == device }
      page.heading(2, device)
      page.chart(TimelineChart(runs, duration: duration.nanoseconds).svg)
      for run in runs where !run.longestTurns.isEmpty {
        page.heading(3, "\(run.variant): longest turns")
        page.list(run.longestTurns.prefix(Self.turnsShown).map(\.line))
      }
      page.paragraph(
        runs.map { "\($0.variant): \($0.measuredCosts) of \($0.measuredCosts + $0.assumedCosts)" }
          .joined(separator: ", ") + " costs measured, the others assumed.")
      let metrics = runs.map(RunMetrics.init)
      page.figures(RunComparison.rows(metrics.map(\.summary), headings: runs.map(\.variant)))
      if let rows = measuredRows(device) {
        page.heading(3, "With costs measured on this machine: median (minimum to maximum)")
        page.figures(rows)
      }
      page.details("All figures of \(device)") {
        $0.figures(RunComparison.rows(metrics, headings: runs.map(\.variant)))
      }
      for run in runs {
        page.details("\(run.variant): why views were evaluated") {
          $0.table(
            [["view", "cause", "action", "field", "times"]]
              + run.views.flatMap { view in
                view.causes.prefix(5).map {
                  [
                    view.name, Self.causes[$0.kind] ?? $0.kind, $0.action ?? "", $0.field ?? "",
                    String($0.count),
                  ]
                }
              })
        }
      }
    }
    return page.text
  }

  private static let turnsShown = 3

  private static let causes = [
    "firstAppearance": "it appeared", "ownRead": "it reads the field",
    "presence": "a child appeared or disappeared", "changedInput": "its parent passed on a change",
  ]
}
