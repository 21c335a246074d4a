package import JSON
import LiveEvents
import PlatformFormats

/// What a sender delivers: the body of a request, and its headers under names in lower case.
package struct WebhookDelivery: Sendable {
  package var body: JSONValue
  package var headers: [String: String]

  package init(body: JSONValue, headers: [String: String] = [:]) {
    self.body = body
    self.headers = headers
  }
}

/// Where in a delivery a value is.
///
/// `data.user.name`, `items[0].id`, `each.id` (of the element that a rule is applied to), `header:NAME`, or
/// `=text` for that text itself. `html:` before it takes the words of HTML; of several, separated by ` | `, the
/// first counts that is there.
struct DeliveredValue: Sendable, Equatable {
  enum Step: Sendable, Equatable {
    case member(String)
    case index(Int)
  }

  enum Origin: Sendable, Equatable {
    case body([Step])
    case element([Step])
    case header(String)
    case literal(String)
  }

  struct Alternative: Sendable, Equatable {
    var origin: Origin
    var isHTML = false
  }

  var alternatives: [Alternative]

  /// Its text if it is always the same.
  var literal: String? {
    guard case .literal(let text)? = alternatives.first?.origin else { return nil }
    return text
  }

  var usesElement: Bool {
    alternatives.contains { if case .element = $0.origin { true } else { false } }
  }

  /// What prevents a text from naming a value, for people.
  struct Problem: Error {
    var text: String
  }

  /// Headers that prove who sends; they are shown nowhere.
  static let hiddenHeaders: Set = ["authorization", "cookie", "x-livehost-secret"]

  init(_ text: String) throws(Problem) {
    alternatives = []
    var rest = text[...]
    while true {
      // A literal is last, and may have any characters.
      let isLiteral = rest.drop { $0 == " " }.hasPrefix("=")
      let end = isLiteral ? nil : rest.firstRange(of: " | ")
      alternatives.append(try Self.alternative(rest[..<(end?.lowerBound ?? rest.endIndex)]))
      guard let end else { return }
      rest = rest[end.upperBound...]
    }
  }

  private static func alternative(_ text: Substring) throws(Problem) -> Alternative {
    var text = text.drop { $0 == " " }
    if text.hasPrefix("=") { return Alternative(origin: .literal(String(text.dropFirst()))) }
    while text.last == " " { text = text.dropLast() }
    let isHTML = text.hasPrefix("html:")
    if isHTML { text = text.dropFirst(5) }
    if text.hasPrefix("header:") {
      let name = text.dropFirst(7).lowercased()
      guard !name.isEmpty, name.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
        throw Problem(text: "write header:NAME")
      }
      guard !hiddenHeaders.contains(name) else {
        throw Problem(text: "the header '\(name)' is a secret and may not become part of an event")
      }
      return Alternative(origin: .header(name), isHTML: isHTML)
    }
    let steps = try path(text)
    if steps.first == .member("each") {
      return Alternative(origin: .element(Array(steps.dropFirst())), isHTML: isHTML)
    }
    return Alternative(origin: .body(steps), isHTML: isHTML)
  }

  /// Reads `a.b[0].c`.
  static func path(_ text: Substring) throws(Problem) -> [Step] {
    let problem = Problem(
      text: "'\(text)' is no path; write one such as data.user.name or items[0].id, "
        + "header:NAME, or =TEXT for a text that is always the same")
    var steps: [Step] = []
    for part in text.split(separator: ".", omittingEmptySubsequences: false) {
      let name = part.prefix { $0 != "[" }
      guard !name.contains(where: { $0.isWhitespace || "]|:=".contains($0) }) else { throw problem }
      if !name.isEmpty { steps.append(.member(String(name))) }
      var rest = part.dropFirst(name.count)
      guard !name.isEmpty || (steps.isEmpty && !rest.isEmpty) else { throw problem }
      while !rest.isEmpty {
        guard rest.first == "[", let end = rest.firstIndex(of: "]"),
          let index = Int(rest[rest.index(after: rest.startIndex)..<end]), index >= 0
        else { throw problem }
        steps.append(.index(index))
        rest = rest[rest.index(after: end)...]
      }
    }
    return steps
  }

  /// The value; `nil` if it is not there, or null.
  ///
  /// - Parameter element: what `each` stands for.
  func value(in delivery: WebhookDelivery, element: JSONValue?) -> JSONValue? {
    for alternative in alternatives {
      let found: JSONValue? =
        switch alternative.origin {
        case .body(let steps): Self.value(at: steps, in: delivery.body)
        case .element(let steps): element.flatMap { Self.value(at: steps, in: $0) }
        case .header(let name): delivery.headers[name].map { .string($0) }
        case .literal(let text): .string(text)
        }
      guard let found, found != .null else { continue }
      if alternative.isHTML, case .string(let text) = found { return .string(HTMLText.plain(text)) }
      return found
    }
    return nil
  }

  static func value(at steps: [Step], in value: JSONValue) -> JSONValue? {
    var value = value
    for step in steps {
      let next: JSONValue? =
        switch step {
        case .member(let name): value[name]
        case .index(let index):
          value.arrayValue.flatMap { $0.indices.contains(index) ? $0[index] : nil }
        }
      guard let next else { return nil }
      value = next
    }
    return value
  }
}

extension JSONValue {
  /// A single value as text; `nil` for lists and objects.
  var scalarText: String? {
    switch self {
    case .string(let text): text
    case .integer(let integer): String(integer)
    case .number(let number): number.description
    case .bool(let bool): bool ? "true" : "false"
    case .null, .array, .object: nil
    }
  }

  /// A number, whether it is written as one or as text.
  var numeric: Double? {
    let number: Double? =
      switch self {
      case .integer(let integer): Double(integer)
      case .number(let number): number
      case .string(let text): Double(text)
      case .bool, .null, .array, .object: nil
      }
    return number.flatMap { $0.isFinite ? $0 : nil }
  }

  /// A point in time in milliseconds since 1970: of RFC 3339, in seconds, or in milliseconds.
  var milliseconds: Int? {
    if case .string(let text) = self, let time = PlatformTime.milliseconds(text) { return time }
    guard let number = numeric, number >= 0 else { return nil }
    // As seconds, that would be in the year 5138; as milliseconds, in 1973.
    let milliseconds = number < 1e11 ? number * 1000 : number
    return milliseconds <= Double(EventLimits.timestamps.upperBound) ? Int(milliseconds) : nil
  }
}
