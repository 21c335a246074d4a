import JSON

/// The intervals of a recorded trace, before the names of views and actions are selected.
package struct MeasuredTrace: Sendable {
  private struct Slice {
    var measurement: CostMeasurement
    var start: Double
    /// The thread. Slices of one thread may be nested.
    var thread: String

    var end: Double { start + measurement.duration }
  }

  private var slices: [Slice] = []
  /// The frames of Android's FrameTimeline, if the trace contains them.
  package private(set) var frames: Frames?

  /// Whole frames, which contain no data about single views.
  package struct Frames: Hashable, Sendable {
    /// The number of drawn frames.
    package var count = 0
    /// The number of late frames.
    package var janky = 0
    /// The longest frame, in nanoseconds.
    package var longest = 0.0
    /// The expected durations of the frames, in nanoseconds.
    fileprivate var expected: [Double] = []

    /// The refresh rate, derived from the expected durations; `nil` if there are none.
    package var refreshRate: Int? {
      let interval = expected.sorted().quantile(0.5)
      return interval > 0 ? Int((1e9 / interval).rounded()) : nil
    }

    package var line: String {
      let rate = refreshRate.map { " at \($0) a second" } ?? ""
      let milliseconds = FixedPoint.milliseconds(Int64(min(longest, 1e15)), decimals: 1)
      return
        "FrameTimeline: \(count) frames\(rate), \(janky) of them janky, the longest \(milliseconds) ms"
    }
  }

  /// The distinct names in sorted order.
  package var names: [String] { Set(slices.map(\.measurement.name)).sorted() }

  /// Reads trace-event JSON of Chromium or Perfetto, signposts of Instruments in XML, or a table
  /// with a heading such as `name,milliseconds`.
  ///
  /// Of the trace events, only intervals are read: complete events (`X`), pairs of begin and end
  /// (`B`, `E`), and asynchronous pairs (`b`, `e`), which `performance.measure()` creates. The
  /// arguments of an interval, or the `detail` of a measure, may contain `elements`, `first`, and
  /// `sizes` (of collections in the state, by path). Times are in microseconds.
  ///
  /// - Throws: ``CalibrationProblem`` if the data has none of these formats.
  package init(_ bytes: [UInt8]) throws(CalibrationProblem) {
    // Spreadsheets write a byte order mark at the start.
    let bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
    switch bytes.first(where: { !Self.isSpace($0) }) {
    case nil: throw CalibrationProblem("is empty")
    case UInt8(ascii: "{"), UInt8(ascii: "["): try readEvents(bytes)
    case UInt8(ascii: "<"): try readSignposts(bytes)
    case _ where bytes.contains(0):
      throw CalibrationProblem("is a binary file; record or convert it as trace-event JSON")
    default: try readLines(String(decoding: bytes, as: UTF8.self))
    }
    guard !slices.isEmpty else {
      if let frames {
        throw CalibrationProblem(
          "has \(frames.count) frames of FrameTimeline but no intervals of views and actions; "
            + "record a section for each (Trace.beginSection)")
      }
      throw CalibrationProblem("contains no intervals with a name and a duration")
    }
  }

  private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

  /// Returns the measurements with these names in the order of their start, each without nested
  /// measurements.
  package func measurements(named names: Set<String>) -> [CostMeasurement] {
    var found: [CostMeasurement] = []
    var starts: [Double] = []
    let known = slices.filter { names.contains($0.measurement.name) }
    for thread in Dictionary(grouping: known, by: \.thread).sorted(by: { $0.key < $1.key }) {
      // If two slices begin together, the longer one encloses the other.
      let slices = thread.value.sorted { ($0.start, -$0.end) < ($1.start, -$1.end) }
      let first = found.count
      var around: [Int] = []
      for (index, slice) in slices.enumerated() {
        while let last = around.last, slices[last].end <= slice.start { around.removeLast() }
        if let last = around.last, slice.end <= slices[last].end {
          found[first + last].duration -= slice.measurement.duration
        }
        around.append(index)
        found.append(slice.measurement)
        starts.append(slice.start)
      }
    }
    return found.indices.sorted { (starts[$0], $0) < (starts[$1], $1) }.map { found[$0] }
  }

  // MARK: Trace events

  private mutating func readEvents(_ bytes: [UInt8]) throws(CalibrationProblem) {
    let json: JSONValue
    do throws(JSONParseError) { json = try JSONValue(parsing: bytes) } catch {
      throw CalibrationProblem("is not valid JSON: \(error.reason) at byte \(error.offset)")
    }
    guard let events = json.arrayValue ?? json["traceEvents"]?.arrayValue else {
      throw CalibrationProblem("is JSON without 'traceEvents'")
    }
    var begun: [String: [Begun]] = [:]
    for event in events {
      guard let phase = event["ph"]?.stringValue, ["X", "B", "E", "b", "e"].contains(phase) else {
        continue
      }
      let thread = "\(event["pid"] ?? .null) \(event["tid"] ?? .null)"
      let start = try Self.number(event, "ts")
      let arguments = event["args"]
      switch phase {
      case "X":
        append(event, thread, start, try Self.number(event, "dur"), arguments)
      case "B", "b":
        begun[Self.key(event, thread, phase), default: []]
          .append(Begun(event: event, start: start))
      default:
        // A slice that began before the recording has only an end event.
        let key = Self.key(event, thread, phase)
        guard let index = begun[key]?.lastIndex(where: { $0.ends(with: event) }),
          let begin = begun[key]?.remove(at: index)
        else { continue }
        append(begin.event, thread, begin.start, start - begin.start, begin.event["args"])
      }
    }
  }

  /// A slice whose end has not been read yet.
  private struct Begun {
    var event: JSONValue
    var start: Double

    /// Whether `end` ends this slice. An end event without a name ends the slice that began last.
    func ends(with end: JSONValue) -> Bool {
      guard let name = end["name"]?.stringValue, !name.isEmpty else { return true }
      return name == event["name"]?.stringValue
    }
  }

  /// Returns the key that matches a slice's begin and end: a thread or an identifier.
  private static func key(_ event: JSONValue, _ thread: String, _ phase: String) -> String {
    if phase == "B" || phase == "E" { return thread }
    let id = event["id2"] ?? event["id"] ?? .null
    return "\(event["pid"] ?? .null) \(event["cat"] ?? .null) \(id)"
  }

  private static func number(
    _ event: JSONValue, _ member: String
  ) throws(CalibrationProblem) -> Double {
    switch event[member] {
    case .integer(let number): return Double(number)
    case .number(let number): return number
    default:
      let name = event["name"]?.stringValue ?? ""
      throw CalibrationProblem(
        "the event '\(name)' needs a number '\(member)', a time in microseconds")
    }
  }

  private mutating func append(
    _ event: JSONValue, _ thread: String, _ start: Double, _ duration: Double,
    _ arguments: JSONValue?
  ) {
    guard let name = event["name"]?.stringValue, !name.isEmpty, duration >= 0 else { return }
    if let arguments, recordFrame(arguments, duration * 1_000) { return }
    let detail = arguments?["detail"]?.stringValue.flatMap { try? JSONValue(parsing: $0.utf8) }
    func argument(_ name: String) -> JSONValue? { arguments?[name] ?? detail?[name] }
    slices.append(
      Slice(
        measurement: CostMeasurement(
          name: name, duration: duration * 1_000,
          elements: argument("elements")?.integerValue.map { Int(clamping: $0) } ?? 0,
          isFirst: argument("first")?.boolValue ?? false, sizes: Self.sizes(argument("sizes"))),
        start: start * 1_000, thread: thread))
  }

  /// Returns the element counts by the paths of collections.
  private static func sizes(_ json: JSONValue?) -> [String: Int] {
    guard case .object(let members) = json else { return [:] }
    var sizes: [String: Int] = [:]
    for (path, size) in members { sizes[path.text] = size.integerValue.map { Int(clamping: $0) } }
    return sizes
  }

  /// Records a slice of FrameTimeline, whose name is a number, as a frame. Returns whether the
  /// slice was a frame.
  private mutating func recordFrame(_ arguments: JSONValue, _ duration: Double) -> Bool {
    guard arguments["Display frame token"] != nil || arguments["Surface frame token"] != nil else {
      return false
    }
    var frames = self.frames ?? Frames()
    if let jank = arguments["Jank type"]?.stringValue {
      frames.count += 1
      if jank != "None" { frames.janky += 1 }
      frames.longest = max(frames.longest, duration)
    } else {
      frames.expected.append(duration)
    }
    self.frames = frames
    return true
  }

  // MARK: Signposts of Instruments

  private mutating func readSignposts(_ bytes: [UInt8]) throws(CalibrationProblem) {
    for interval in try SignpostTable(bytes).intervals {
      let isFirst = interval.argument("first")
      slices.append(
        Slice(
          measurement: CostMeasurement(
            name: interval.name, duration: interval.duration,
            elements: interval.argument("elements").flatMap { Int($0) } ?? 0,
            isFirst: isFirst == "true" || isFirst == "1" || isFirst == "YES"),
          start: interval.start, thread: interval.thread))
    }
  }

  // MARK: Lines

  private static let units = [
    "nanoseconds": 1.0, "microseconds": 1e3, "milliseconds": 1e6, "seconds": 1e9,
  ]

  private mutating func readLines(_ text: String) throws(CalibrationProblem) {
    let lines = text.split(whereSeparator: \.isNewline)
    func cells(_ line: Substring) -> [String] {
      line.split(separator: ",", omittingEmptySubsequences: false).map { cell in
        String(
          cell.drop { $0 == " " || $0 == "\"" }.reversed().drop { $0 == " " || $0 == "\"" }
            .reversed())
      }
    }
    let heading = lines.first.map(cells) ?? []
    guard let nameColumn = heading.firstIndex(of: "name"),
      let timeColumn = heading.firstIndex(where: { Self.units[$0] != nil }),
      let unit = Self.units[heading[timeColumn]]
    else {
      throw CalibrationProblem(
        "is not trace-event JSON, XML of signposts, or a table with a heading such as "
          + "'name,milliseconds' (or nanoseconds, microseconds, seconds)")
    }
    for (index, line) in lines.enumerated().dropFirst() {
      let cells = cells(line)
      func cell(_ column: String) -> String? {
        heading.firstIndex(of: column).flatMap { $0 < cells.count ? cells[$0] : nil }
      }
      guard cells.count == heading.count, !cells[nameColumn].isEmpty,
        let time = Double(cells[timeColumn]), time.isFinite, time >= 0,
        let elements = Int(cell("elements") ?? "0"),
        let isFirst = Bool(cell("first") ?? "false"), let sizes = Self.sizes(heading, cells)
      else { throw CalibrationProblem("line \(index + 1) does not match the heading") }
      // A table has no nesting, so each line gets its own thread.
      slices.append(
        Slice(
          measurement: CostMeasurement(
            name: cells[nameColumn], duration: time * unit, elements: elements, isFirst: isFirst,
            sizes: sizes),
          start: Double(index), thread: "line \(index)"))
    }
  }

  /// Returns the sizes in the columns named `size:` followed by the path of a collection; `nil` if
  /// a size is not a number.
  private static func sizes(_ heading: [String], _ cells: [String]) -> [String: Int]? {
    var sizes: [String: Int] = [:]
    for (name, cell) in zip(heading, cells) where name.hasPrefix("size:") {
      guard let size = Int(cell) else { return nil }
      sizes[String(name.dropFirst(5))] = size
    }
    return sizes
  }
}
