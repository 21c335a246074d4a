/// The colours of variants, by index.
private let palette = ["#c0504d", "#4f81bd", "#9bbb59", "#8064a2", "#f79646", "#4bacc6"]

private func colour(_ index: Int) -> String { palette[index % palette.count] }

/// A legend: names with the colours of their lines or bars, in as many rows as needed.
struct ChartLegend {
  private(set) var svg = ""
  private(set) var width = 0
  /// The lower edge of the last row.
  private(set) var bottom: Int
  private var x: Int
  private let left: Int
  private let limit: Int

  /// `limit` is the maximum width of a row with more than one name.
  init(left: Int, top: Int, limit: Int) {
    (self.left, x, self.limit, bottom) = (left, left, limit, top + 14)
  }

  mutating func append(_ name: String, _ paint: String) {
    let length = 16 + SVGText.width(name)
    if x > left, x + length > limit { (x, bottom) = (left, bottom + 18) }
    svg += "<rect x=\"\(x)\" y=\"\(bottom - 10)\" width=\"10\" height=\"10\" \(paint)/>"
    // The name has the text colour, because a line's colour is hard to read on the dark page.
    svg += "<text x=\"\(x + 16)\" y=\"\(bottom)\">\(HTMLPage.escaped(name))</text>"
    width = max(width, x + length)
    x += length + 20
  }

  mutating func append(_ name: String, colour index: Int) {
    append(name, "fill=\"\(colour(index))\"")
  }
}

enum SVGText {
  /// Returns the maximum width of a text at 12 px, in pixels, in the usual fonts of web pages.
  static func width(_ text: String) -> Int { text.count * 36 / 5 + 2 }
}

/// A bar chart of all runs: microhangs in the colour of the variant, and hangs on top.
enum HangChart {
  private static let height = 180

  static func svg(_ report: SimulationReport) -> String {
    let most = max(1, report.runs.map { $0.microhangs + $0.hangs }.max() ?? 1)
    let variants = report.runs.map(\.variant).withoutDuplicates
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
        svg += bars(of: run, at: x, variants.firstIndex(of: run.variant) ?? 0, most)
        x += 34
      }
      svg += "<text x=\"\(start)\" y=\"\(height + 36)\">\(HTMLPage.escaped(device))</text>"
      x = max(x + 30, start + SVGText.width(device) + 20)
    }
    var legend = ChartLegend(left: 40, top: height + 44, limit: max(x, 640))
    for (index, variant) in variants.enumerated() {
      legend.append("\(variant): microhangs", colour: index)
    }
    legend.append("hangs", "class=\"hang\"")
    let (width, bottom) = (max(x, legend.width), legend.bottom + 12)
    return
      "<svg viewBox=\"0 0 \(width) \(bottom)\" width=\"\(width)\" role=\"img\" aria-label=\"microhangs and hangs of each run\">\(svg)\(legend.svg)</svg>"
  }

  private static func bars(of run: RunReport, at x: Int, _ place: Int, _ most: Int) -> String {
    let micro = run.microhangs * height / most
    let hang = run.hangs * height / most
    let label = HTMLPage.escaped(
      "\(run.variant): \(run.microhangs) microhangs, \(run.hangs) hangs")
    return "<g><title>\(label)</title>"
      + bar(x, 20 + height - micro, micro, "fill=\"\(colour(place))\"")
      + bar(x, 20 + height - micro - hang, hang, "class=\"hang\"")
      + "<text x=\"\(x + 12)\" y=\"\(14 + height - micro - hang)\" text-anchor=\"middle\">"
      + "\(run.microhangs)+\(run.hangs)</text></g>"
  }

  private static func bar(_ x: Int, _ y: Int, _ height: Int, _ paint: String) -> String {
    "<rect x=\"\(x)\" y=\"\(y)\" width=\"24\" height=\"\(height)\" \(paint)/>"
  }
}

/// A line chart of the longest turn in each part of the run, with the bounds of microhangs and
/// hangs. A chart below shows the number of events; both charts mark the periods of faults.
struct TimelineChart {
  private static let width = 960
  private static let height = 160
  private static let rateTop = 176
  private static let rateHeight = 40

  private let runs: [RunReport]
  private let duration: Int64
  private let longest: Int64

  init(_ runs: [RunReport], duration: Int64) {
    (self.runs, self.duration) = (runs, max(1, duration))
    longest = max(600_000_000, runs.map(\.longest).max() ?? 0)
  }

  private static var bottom: Int { rateTop + rateHeight }

  private func x(_ time: Int64) -> Int {
    Int(Int128(time) * Int128(Self.width) / Int128(duration))
  }

  private func y(_ length: Int64) -> Int {
    Self.height + 10 - Int(length * Int64(Self.height) / longest)
  }

  var svg: String {
    var legend = ChartLegend(left: 0, top: Self.bottom + 24, limit: Self.width)
    for (index, run) in runs.enumerated() { legend.append(run.variant, colour: index) }
    let bottom = legend.bottom + 12
    return
      "<svg viewBox=\"0 0 \(Self.width) \(bottom)\" width=\"\(Self.width)\" role=\"img\" aria-label=\"when the main thread was busy, and the number of events\">\(faults)\(axes)\(lines)\(rate)\(legend.svg)</svg>"
  }

  /// The faults of all variants, without duplicates.
  private var faults: String {
    runs.flatMap(\.faultWindows).withoutDuplicates.map { fault in
      let (start, end) = (x(fault.start), x(min(fault.end, duration)))
      let isLate = start > Self.width * 4 / 5
      return "<g><title>\(fault.kind) from \(FixedPoint.seconds(fault.start)) to "
        + "\(FixedPoint.seconds(fault.end))</title><rect class=\"fault\" x=\"\(start)\" y=\"10\" "
        + "width=\"\(max(2, end - start))\" height=\"\(Self.bottom - 10)\"/>"
        + "<text class=\"label\" x=\"\(isLate ? end : start)\" y=\"9\" text-anchor=\"\(isLate ? "end" : "start")\">"
        + "\(fault.kind)</text></g>"
    }.joined()
  }

  private var axes: String {
    var svg = ""
    let bounds: [(Int64, String)] = [
      (0, ""), (250_000_000, "250 ms: microhang"), (500_000_000, "500 ms: hang"),
    ]
    for (bound, name) in bounds {
      svg +=
        "<line class=\"axis\" x1=\"0\" x2=\"\(Self.width)\" y1=\"\(y(bound))\" y2=\"\(y(bound))\"/>"
      svg +=
        "<text class=\"label\" x=\"\(Self.width)\" y=\"\(y(bound) - 3)\" text-anchor=\"end\">\(name)</text>"
    }
    for quarter in 0...4 {
      let anchor = quarter == 0 ? "start" : quarter == 4 ? "end" : "middle"
      let seconds = duration * Int64(quarter) / 4_000_000_000
      svg += "<text class=\"label\" x=\"\(Self.width * quarter / 4)\" y=\"\(Self.bottom + 16)\" "
      svg += "text-anchor=\"\(anchor)\">\(seconds) s</text>"
    }
    return svg
  }

  private var lines: String {
    runs.enumerated().map { index, run in
      let points = run.timeline.enumerated().map { part, turn in
        "\(x(Int64(part) * run.bucket)),\(y(turn))"
      }
      return
        "<polyline fill=\"none\" stroke=\"\(colour(index))\" points=\"\(points.joined(separator: " "))\"/>"
    }.joined()
  }

  /// The events of the first run. The events of the other runs arrive at the same times unless they
  /// have their own streams.
  private var rate: String {
    guard let run = runs.first, let most = run.arrivals.max(), most > 0 else { return "" }
    let line = Self.bottom
    var points = ["0,\(line)"]
    for (part, count) in run.arrivals.enumerated() {
      let y = line - count * Self.rateHeight / most
      points += ["\(x(Int64(part) * run.bucket)),\(y)"]
      points += ["\(min(Self.width, x(Int64(part + 1) * run.bucket))),\(y)"]
    }
    points.append("\(Self.width),\(line)")
    let perSecond = Int128(most) * 1_000_000_000 / Int128(run.bucket)
    return "<g><title>events per second, up to \(perSecond)</title>"
      + "<polygon class=\"events\" points=\"\(points.joined(separator: " "))\"/>"
      + "<text class=\"label\" x=\"0\" y=\"\(Self.rateTop - 2)\">events, up to \(perSecond)/s</text></g>"
  }
}

extension Sequence where Element: Hashable {
  /// The first of each set of equal elements, in the same order.
  var withoutDuplicates: [Element] {
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}
