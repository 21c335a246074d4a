import Suggestions
import Yams

/// One value of a YAML file with its place, so that what is wrong with it can be told exactly.
struct Cell {
  let node: Node
  let file: String
  /// The key with those around it; nil for the whole file.
  let key: String?
  private let keyLine: Int?

  init(_ node: Node, file: String, key: String? = nil, keyLine: Int? = nil) {
    self.node = node
    self.file = file
    self.key = key
    self.keyLine = keyLine
  }

  /// The top of a file.
  static func parsing(_ text: String, file: String) throws(ScenarioError) -> Cell {
    let root: Node?
    do {
      root = try Yams.compose(yaml: text)
    } catch let error as YamlError {
      throw ScenarioError(error, in: text, file: file)
    } catch {
      throw ScenarioError(file: file, message: "\(error)")
    }
    guard let root, root.null == nil else { throw ScenarioError(file: file, message: "is empty") }
    return Cell(root, file: file)
  }

  /// Sums of times stay far from the end of their range.
  private static let longestTime: Int64 = 100 * 86_400 * 1_000_000_000

  var line: Int? { node.mark?.line ?? keyLine }

  func problem(_ message: String) -> ScenarioError {
    ScenarioError(file: file, line: line, key: key, message: message)
  }

  /// The text of a plain value.
  func text() throws(ScenarioError) -> String {
    guard let text = node.scalar?.string else { throw problem("expected a single value") }
    guard !text.isEmpty else { throw problem("has no value") }
    return text
  }

  func integer(in range: ClosedRange<Int>) throws(ScenarioError) -> Int {
    let text = try text()
    guard let value = Int(text), range.contains(value) else {
      let bound =
        range.upperBound == .max
        ? "of \(range.lowerBound) or more" : "from \(range.lowerBound) to \(range.upperBound)"
      throw problem("expected a whole number \(bound), not '\(text)'")
    }
    return value
  }

  /// - Parameter positive: whether zero is refused.
  func duration(positive: Bool = false) throws(ScenarioError) -> VirtualTime {
    let text = try text()
    guard let nanoseconds = Quantity.duration(text) else {
      let hint = Int(text) != nil ? "; did you mean '\(text)s'?" : ""
      throw problem("expected a time such as 250ms, 90s or 10m, not '\(text)'\(hint)")
    }
    if nanoseconds > Self.longestTime { throw problem("is longer than 100 days") }
    if positive, nanoseconds == 0 { throw problem("must be longer than zero") }
    return VirtualTime(nanoseconds: nanoseconds)
  }

  func rate() throws(ScenarioError) -> Rate {
    let text = try text()
    guard let rate = Rate(text) else {
      let hint = Quantity.millionths(text) != nil ? "; did you mean '\(text)/s'?" : ""
      throw problem("expected a rate such as 10/s or 3/m, not '\(text)'\(hint)")
    }
    return rate
  }

  /// In thousandths.
  func share() throws(ScenarioError) -> Int64 {
    let text = try text()
    guard let share = Quantity.share(text) else {
      throw problem("expected a share from 0% to 100%, not '\(text)'")
    }
    return share
  }

  /// In millionths; at least `minimum`.
  func factor(atLeast minimum: Int64) throws(ScenarioError) -> Int64 {
    let text = try text()
    guard let value = Quantity.millionths(text), value >= minimum, value <= 1_000_000_000 else {
      throw problem(
        "expected a factor of \(FixedPoint.text(minimum, decimals: 6, trimmed: true)) to 1000, "
          + "not '\(text)'")
    }
    return value
  }

  func truth() throws(ScenarioError) -> Bool {
    try choice([("true", true), ("false", false)])
  }

  /// One of a few words.
  func choice<Value>(_ choices: [(name: String, value: Value)]) throws(ScenarioError) -> Value {
    let text = try text()
    for choice in choices where choice.name == text { return choice.value }
    throw problem("there is no '\(text)'\(Spelling.hint(for: text, among: choices.map(\.name)))")
  }

  /// The elements of a list; a single value stands for a list of one where `orOne`.
  func list(orOne: Bool = false) throws(ScenarioError) -> [Cell] {
    guard let sequence = node.sequence else {
      if orOne, node.scalar != nil { return [self] }
      throw problem("expected a list")
    }
    var cells: [Cell] = []
    for (index, element) in sequence.enumerated() {
      cells.append(
        Cell(element, file: file, key: "\(key ?? "")[\(index)]", keyLine: line))
    }
    return cells
  }
}

extension ScenarioError {
  fileprivate init(_ error: YamlError, in text: String, file: String) {
    switch error {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      self.init(file: file, line: mark.line, message: "is no YAML: \(problem)")
    case .duplicatedKeysInMapping(let keys, let context):
      let key = keys.last ?? ""
      self.init(
        file: file, line: Self.secondLine(of: key, in: text) ?? context.mark.line, key: key,
        message: "stands here twice")
    case .no, .memory, .reader, .writer, .emitter, .representer, .dataCouldNotBeDecoded:
      self.init(file: file, message: "is no YAML: \(error)")
    }
  }

  /// The parser tells where the section begins; people look for the key.
  private static func secondLine(of key: String, in text: String) -> Int? {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let places = lines.indices.filter { index in
      lines[index].drop { $0 == " " || $0 == "-" }.hasPrefix("\(key):")
    }
    return places.count == 2 ? places[1] + 1 : nil
  }
}
