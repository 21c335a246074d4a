/// The intervals of signposts in XML, in the format of `xctrace export` for the Instruments table
/// `os-signpost-interval`. A schema names the columns, and each row has one cell per column. A
/// repeated value is written once with an `id`, and afterwards as a `ref` to it.
struct SignpostTable {
  struct Interval: Equatable {
    var name: String
    /// The start in nanoseconds.
    var start: Double
    var duration: Double
    var thread: String
    /// The messages at the beginning and the end, such as `elements=12 first=true`.
    var message: String
  }

  private struct Value {
    /// The machine-readable value.
    var text = ""
    /// The displayed value.
    var format: String?

    var shown: String { format ?? text }
  }

  private struct Element {
    let name: String
    let id: String?
    var value: Value
  }

  private static let schema = "os-signpost-interval"
  private static let deepest = 64

  private(set) var intervals: [Interval] = []
  /// The names of the columns; `nil` outside the table.
  private var columns: [String]?
  private var values: [String: Value] = [:]

  /// - Throws: ``CalibrationProblem`` if the data is not XML, or lacks the table.
  init(_ bytes: [UInt8]) throws(CalibrationProblem) {
    var scanner = XMLScanner(bytes)
    var open: [Element] = []
    var cells: [Value] = []
    var hasTable = false
    while let token = try scanner.next() {
      switch token {
      case .open(let name, let attributes):
        guard open.count < Self.deepest else {
          throw CalibrationProblem("is not readable XML: it is nested too deeply")
        }
        if name == "schema" {
          columns = attributes["name"] == Self.schema ? [] : nil
          hasTable = hasTable || columns != nil
        }
        if name == "row" { cells = [] }
        let value = attributes["ref"].map { values[$0] ?? Value() }
        open.append(
          Element(
            name: name, id: attributes["id"], value: value ?? Value(format: attributes["fmt"])))
      case .text(let text):
        if !open.isEmpty { open[open.count - 1].value.text += text }
      case .close(let name):
        guard let element = open.popLast(), element.name == name else {
          throw CalibrationProblem("is not readable XML: </\(name)> has no matching start tag")
        }
        if let id = element.id { values[id] = element.value }
        if name == "mnemonic" { columns?.append(element.value.text) }
        if open.last?.name == "row" { cells.append(element.value) }
        if name == "row" { try append(cells) }
      }
    }
    guard open.isEmpty else {
      throw CalibrationProblem("is not readable XML: it ends within <\(open[0].name)>")
    }
    guard hasTable else {
      throw CalibrationProblem(
        "is XML but lacks the table '\(Self.schema)'; export it from Instruments with "
          + "xctrace export --xpath '//table[@schema=\"\(Self.schema)\"]'")
    }
  }

  private mutating func append(_ cells: [Value]) throws(CalibrationProblem) {
    guard let columns else { return }
    func cell(_ column: String) -> Value? {
      columns.firstIndex(of: column).flatMap { $0 < cells.count ? cells[$0] : nil }
    }
    guard let name = cell("name")?.shown, !name.isEmpty else { return }
    guard let start = cell("start").flatMap({ Double($0.text) }),
      let duration = cell("duration").flatMap({ Double($0.text) }), duration >= 0
    else {
      throw CalibrationProblem(
        "the interval '\(name)' needs a start and a duration in nanoseconds")
    }
    intervals.append(
      Interval(
        name: name, start: start, duration: duration,
        thread: (cell("start-thread") ?? cell("thread"))?.shown ?? "",
        message: ["start-message", "end-message", "message"].compactMap { cell($0)?.shown }
          .joined(separator: " ")))
  }
}

extension SignpostTable.Interval {
  /// Returns the value of `elements` or `first` in the messages: `elements=12`, `elements: 12`.
  func argument(_ name: String) -> Substring? {
    let words = message.split { " ,;=:".contains($0) }
    return words.firstIndex(of: Substring(name)).flatMap { index in
      index + 1 < words.count ? words[index + 1] : nil
    }
  }
}
