/// Colours by the index of a variant.
private let palette = ["#c0504d", "#4f81bd", "#9bbb59", "#8064a2", "#f79646", "#4bacc6"]

private func colour(_ index: Int) -> String { palette[index % palette.count] }

/// A bar chart: microhangs in the colour of the variant and, on top of them, hangs of every run.
enum HangChart {
  private static let height = 180

  static func svg(_ report: SimulationReport) -> String {
    let most = max(1, report.runs.map { $0.microhangs + $0.hangs }.max() ?? 1)
    let variants = variantNames(report.runs)
    var svg = ""
    for count in Set([0, most / 2, most]).sorted() {
      let y = 20 + height - count * height / most
      svg += "<line class=\"axis\" x1=\"32\" x2=\"2000\" y1=\"\(y)\" y2=\"\(y)\"/>"
      svg += "<text class=\"label\" x=\"26\" y=\"\(y + 4)\" text-anchor=\"end\">\(count)</text>"
    }
    var x = 40
    for device in report.devices {
      let start = x
      for run in report.runs where run.device == device {
        let place = variants.firstIndex(of: run.variant) ?? 0
        let micro = run.microhangs * height / most
        let hang = run.hangs * height / most
        let label = HTMLPage.escaped(
          "\(run.variant): \(run.microhangs) microhangs, \(run.hangs) hangs")
        svg += "<g><title>\(label)</title>"
        svg += bar(x, 20 + height - micro, micro, "fill=\"\(colour(place))\"")
        svg += bar(x, 20 + height - micro - hang, hang, "class=\"hang\"")
        svg += "<text x=\"\(x + 12)\" y=\"\(14 + height - micro - hang)\" text-anchor=\"middle\">"
        svg += "\(run.microhangs)+\(run.hangs)</text></g>"
        x += 34
      }
      svg += "<text x=\"\(start)\" y=\"\(height + 36)\">\(HTMLPage.escaped(device))</text>"
      x = max(x + 30, start + 7 * device.count + 20)
    }
    for (index, variant) in variants.enumerated() {
      let y = height + 58
      svg +=
        "<rect x=\"\(40 + 180 * index)\" y=\"\(y - 10)\" width=\"10\" height=\"10\" fill=\"\(colour(index))\"/>"
      svg += "<text x=\"\(56 + 180 * index)\" y=\"\(y)\">"
      svg += "\(HTMLPage.escaped(variant)): microhangs</text>"
    }
    let last = 40 + 180 * variants.count
    svg += "<rect class=\"hang\" x=\"\(last)\" y=\"\(height + 48)\" width=\"10\" height=\"10\"/>"
    svg += "<text x=\"\(last + 16)\" y=\"\(height + 58)\">hangs</text>"
    let width = max(x, last + 80)
    return
      "<svg viewBox=\"0 0 \(width) \(height + 70)\" width=\"\(width)\" role=\"img\" aria-label=\"microhangs and hangs of each run\">\(svg)</svg>"
  }

  private static func bar(_ x: Int, _ y: Int, _ height: Int, _ paint: String) -> String {
    "<rect x=\"\(x)\" y=\"\(y)\" width=\"24\" height=\"\(height)\" \(paint)/>"
  }
}

/// A line chart: the longest turn in each part of the run, with the bounds of microhangs and hangs.
enum TimelineChart {
  private static let width = 960
  private static let height = 160

  static func svg(_ runs: [RunReport], duration: Int64) -> String {
    let longest = max(600_000_000, runs.map(\.longest).max() ?? 0)
    func y(_ nanoseconds: Int64) -> Int { height + 10 - Int(nanoseconds * Int64(height) / longest) }
    var svg = ""
    for (bound, name) in [
      (0, ""), (250_000_000, "250 ms: microhang"), (500_000_000, "500 ms: hang"),
    ]
      as [(Int64, String)]
    {
      svg += "<line class=\"axis\" x1=\"0\" x2=\"\(width)\" y1=\"\(y(bound))\" y2=\"\(y(bound))\"/>"
      svg +=
        "<text class=\"label\" x=\"\(width)\" y=\"\(y(bound) - 3)\" text-anchor=\"end\">\(name)</text>"
    }
    for quarter in 0...4 {
      let anchor = quarter == 0 ? "start" : quarter == 4 ? "end" : "middle"
      let seconds = duration * Int64(quarter) / 4_000_000_000
      svg += "<text class=\"label\" x=\"\(width * quarter / 4)\" y=\"\(height + 26)\" "
      svg += "text-anchor=\"\(anchor)\">\(seconds) s</text>"
    }
    for (index, run) in runs.enumerated() {
      var points: [String] = []
      for (part, turn) in run.timeline.enumerated() {
        let x = Int64(part) * run.bucket * Int64(width) / max(1, duration)
        points.append("\(x),\(y(turn))")
      }
      svg +=
        "<polyline fill=\"none\" stroke=\"\(colour(index))\" points=\"\(points.joined(separator: " "))\"/>"
      // The name has the colour of text, since on the dark page that of a line is hard to read.
      svg +=
        "<rect x=\"\(140 * index)\" y=\"\(height + 38)\" width=\"10\" height=\"10\" fill=\"\(colour(index))\"/>"
      svg += "<text x=\"\(16 + 140 * index)\" y=\"\(height + 48)\">"
      svg += "\(HTMLPage.escaped(run.variant))</text>"
    }
    return
      "<svg viewBox=\"0 0 \(width) \(height + 54)\" width=\"\(width)\" role=\"img\" aria-label=\"when the main thread was held\">\(svg)</svg>"
  }
}

private func variantNames(_ runs: [RunReport]) -> [String] {
  var names: [String] = []
  for run in runs where !names.contains(run.variant) { names.append(run.variant) }
  return names
}
