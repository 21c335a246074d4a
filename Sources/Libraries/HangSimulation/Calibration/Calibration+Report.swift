import JSON

extension Calibration {
  /// The maximum number of names that the text report lists.
  private static let maximumListed = 12

  /// The text report.
  package var lines: [String] {
    func time(_ nanoseconds: Int64?) -> String {
      nanoseconds.map { "\(FixedPoint.milliseconds($0, decimals: 4)) ms" } ?? "assumed"
    }
    func share(_ share: Double) -> String {
      FixedPoint.text(Int64((min(share, 1e6) * 1_000).rounded()), decimals: 1) + " %"
    }
    let (measured, all) = constants
    var rows = [["", "base", "element", "appearance", "fitted to", "outliers", "half", "75 %"]]
    for item in items {
      rows.append([
        item.name, time(item.base), time(item.element), item.isView ? time(item.appearance) : "",
        "\(item.count)", "\(item.outliers)", share(item.error.half),
        share(item.error.threeQuarters),
      ])
    }
    var lines = ["\(measured) of \(all) constants measured, \(all - measured) assumed", ""]
    lines += TextColumns.lines(rows)
    for item in items {
      for (path, cost) in item.fields.sorted(by: { $0.key < $1.key }) {
        lines.append("  \(item.name): \(time(cost)) more for each element of \(path)")
      }
    }
    lines += risingLines
    lines += [
      "",
      "'half' and '75 %': the largest prediction error of half and of 75 % of the held-out "
        + "measurements (every fifth), relative to the prediction.",
    ]
    if !missing.isEmpty {
      let more = missing.count - Self.maximumListed
      lines.append(
        "Assumed, because they were measured fewer than \(Self.minimumMeasurements) times: "
          + missing.prefix(Self.maximumListed).joined(separator: ", ")
          + (more > 0 ? " and \(more) more (see the JSON report)" : ""))
    }
    for (name, near) in misspelled.prefix(Self.maximumListed) {
      lines.append("The screen has no '\(name)'; did you mean '\(near)'?")
    }
    lines += frames.map(\.line)
    return lines
  }

  /// The lines about views and actions to which no constant fits.
  private var risingLines: [String] {
    items.compactMap { item in
      item.rise.map { rise in
        let (from, to) = (
          FixedPoint.milliseconds(rise.from, decimals: 1),
          FixedPoint.milliseconds(rise.to, decimals: 1)
        )
        return
          "No constant fits \(item.name): its cost rises from \(from) to \(to) ms over the recording. "
          + (observesState
            ? "No collection of the state grows with the cost."
            : "If a collection of the state grows meanwhile, record its size in 'sizes'.")
      }
    }
  }

  /// The report as one line of JSON, with times in nanoseconds.
  package var json: String {
    JSONWriter.text { json in
      json.add("measured", constants.measured)
      json.add("assumed", constants.all - constants.measured)
      json.addObjects("costs", items) { item, json in
        json.add("name", item.name)
        json.add("kind", item.isView ? "view" : "action")
        json.add("base", Int(item.base))
        json.add("element", item.element.map { Int($0) })
        json.add("appearance", item.appearance.map { Int($0) })
        if !item.fields.isEmpty {
          json.addObject("per") { json in
            for (path, cost) in item.fields.sorted(by: { $0.key < $1.key }) {
              json.name(text: path)
              json.append(Int(cost))
            }
          }
        }
        if let rise = item.rise {
          json.addArray("rises") { json in
            json.append(Int(rise.from))
            json.append(Int(rise.to))
          }
        }
        json.add("measurements", item.count)
        json.add("outliers", item.outliers)
        json.add("medianError", item.error.half)
        json.add("error75", item.error.threeQuarters)
      }
      json.addTexts("missing", missing)
      guard !frames.isEmpty else { return }
      json.addObjects("frameTimelines", frames) { frames, json in
        json.add("frames", frames.count)
        json.add("janky", frames.janky)
        json.add("longest", frames.longest)
        json.add("refreshRate", frames.refreshRate)
      }
    }
  }
}
