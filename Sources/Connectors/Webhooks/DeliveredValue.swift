import ChatImport
package import JSON
import LiveEvents

/// A webhook delivery: the body of a request, and its headers with lower-case names.
package struct WebhookDelivery: Sendable {
  package var body: JSONValue
  package var headers: [String: String]

  package init(body: JSONValue, headers: [String: String] = [:]) {
    self.body = body
    self.headers = headers
  }
}

/// A reference to a value in a webhook delivery, written in a small path language.
///
/// - `data.user.name`, `items[0].id`: a value in the body.
/// - `items[].id`: the values of all elements.
/// - `items[id=data.item].name`: a value of the element whose `id` equals the value at `data.item`.
/// - `each.id`: a value of the element to which a rule is applied.
/// - `header:NAME`: a header.
/// - `=text`: a literal text.
/// - `{data.amount} {data.currency}`: a template, which is present if all its values are.
///
/// The prefix `html:` before a path converts HTML to plain text. A vertical bar between spaces
/// separates alternatives; the first that is present counts. An empty string counts as absent. A
/// text that contains JSON, such as a field of a form, is parsed.
struct DeliveredValue: Sendable, Equatable {
  enum Step: Sendable, Equatable {
    case member(String)
    case index(Int)
    case elements
    /// The first element of a list whose named member equals the value at a path from the root.
    case matching(String, [Step])
  }

  indirect enum Origin: Sendable, Equatable {
    case body([Step])
    case element([Step])
    case header(String)
    case literal(String)
    case template([Alternative])
  }

  struct Alternative: Sendable, Equatable {
    var origin: Origin
    var isHTML = false
  }

  var alternatives: [Alternative]

  /// The text of a reference that is constant, or `nil` for other references.
  var literal: String? {
    guard case .literal(let text)? = alternatives.first?.origin else { return nil }
    return text
  }

  /// All values that the reference reads, including those within templates.
  var origins: [Origin] {
    alternatives.flatMap { alternative in
      if case .template(let parts) = alternative.origin {
        parts.map(\.origin)
      } else {
        [alternative.origin]
      }
    }
  }

  var usesElement: Bool {
    origins.contains { if case .element = $0 { true } else { false } }
  }

  /// A human-readable reason why a text is not a valid reference.
  struct Problem: Error {
    var text: String
  }

  /// The headers with credentials, which are never shown.
  static let hiddenHeaders: Set = ["authorization", "cookie", "x-livehost-secret"]

  init(_ text: String) throws(Problem) {
    alternatives = []
    var rest = text[...]
    while true {
      // A literal is the last alternative, since it may contain any characters.
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
    if text.contains("{") { return Alternative(origin: .template(try parts(text))) }
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

  /// Parses a template such as `{a.b} text {c}`.
  private static func parts(_ text: Substring) throws(Problem) -> [Alternative] {
    var parts: [Alternative] = []
    var rest = text
    while !rest.isEmpty {
      let words = rest.prefix { $0 != "{" }
      if !words.isEmpty { parts.append(Alternative(origin: .literal(String(words)))) }
      rest = rest.dropFirst(words.count)
      guard !rest.isEmpty else { break }
      let path = rest.dropFirst().prefix { $0 != "}" }
      guard rest.dropFirst(path.count + 1).first == "}", !path.contains("{") else {
        throw Problem(
          text: "'\(text)' lacks a '}'; write a text such as {data.amount} {data.currency}")
      }
      parts.append(try alternative(path))
      rest = rest.dropFirst(path.count + 2)
    }
    return parts
  }

  /// Splits a path at its dots, except for dots in brackets.
  private static func parts(ofPath text: Substring) -> [Substring] {
    var parts: [Substring] = []
    var (start, depth) = (text.startIndex, 0)
    for index in text.indices {
      switch text[index] {
      case "[": depth += 1
      case "]": depth -= 1
      case "." where depth == 0:
        parts.append(text[start..<index])
        start = text.index(after: index)
      default: break
      }
    }
    return parts + [text[start...]]
  }

  /// Parses a path such as `a.b[0].c`, `a[].c` or `a[b=c.d].e`.
  static func path(_ text: Substring) throws(Problem) -> [Step] {
    let problem = Problem(
      text: "'\(text)' is not a path; write a path such as data.user.name or items[0].id, "
        + "header:NAME, or =TEXT for a fixed text")
    var steps: [Step] = []
    for part in parts(ofPath: text) {
      let name = part.prefix { $0 != "[" }
      guard !name.contains(where: { $0.isWhitespace || "]|:=}".contains($0) }) else {
        throw problem
      }
      if !name.isEmpty { steps.append(.member(String(name))) }
      var rest = part.dropFirst(name.count)
      guard !name.isEmpty || (steps.isEmpty && !rest.isEmpty) else { throw problem }
      while !rest.isEmpty {
        guard rest.first == "[", let end = rest.firstIndex(of: "]") else { throw problem }
        let number = rest[rest.index(after: rest.startIndex)..<end]
        if number.isEmpty {
          steps.append(.elements)
        } else if let equals = number.firstIndex(of: "=") {
          let member = number[..<equals]
          let other = try path(number[number.index(after: equals)...])
          guard !member.isEmpty, !other.isEmpty else { throw problem }
          steps.append(.matching(String(member), other))
        } else {
          guard let index = Int(number), index >= 0 else { throw problem }
          steps.append(.index(index))
        }
        rest = rest[rest.index(after: end)...]
      }
    }
    return steps
  }

  /// Returns the first value that is present, or `nil` if there is none. `each` refers to
  /// `element`.
  func value(in delivery: WebhookDelivery, element: JSONValue?) -> JSONValue? {
    values(in: delivery, element: element).first
  }

  /// Returns all values that are present, in order.
  func values(
    in delivery: WebhookDelivery, element: JSONValue?
  ) -> some Sequence<JSONValue> & Collection<JSONValue> {
    alternatives.lazy.compactMap { alternative in
      Self.value(of: alternative, delivery, element).flatMap { $0.isAbsent ? nil : $0 }
    }
  }

  private static func value(
    of alternative: Alternative, _ delivery: WebhookDelivery, _ element: JSONValue?
  ) -> JSONValue? {
    let found: JSONValue? =
      switch alternative.origin {
      case .body(let steps): value(at: steps[...], in: delivery.body, of: delivery.body)
      case .element(let steps):
        element.flatMap { value(at: steps[...], in: $0, of: delivery.body) }
      case .header(let name): delivery.headers[name].map { .string($0) }
      case .literal(let text): .string(text)
      case .template(let parts): text(of: parts, delivery, element).map { .string($0) }
      }
    if alternative.isHTML, case .string(let text)? = found { return .string(HTMLText.plain(text)) }
    return found
  }

  private static func text(
    of parts: [Alternative], _ delivery: WebhookDelivery, _ element: JSONValue?
  ) -> String? {
    var text = ""
    for (index, part) in parts.enumerated() {
      let found = value(of: part, delivery, element)
      if case .literal(let words) = part.origin {
        text += words
      } else if let found, !found.isAbsent, let words = found.wordsText {
        // Earlier values are truncated to leave space for the last value.
        text += index < parts.count - 1 ? words.clipped(to: 1024) : words
      } else {
        return nil
      }
    }
    return text
  }

  /// Returns the elements of the list at a path. Any other value that is present becomes a list of
  /// one element.
  static func list(at steps: [Step], in value: JSONValue) -> [JSONValue] {
    guard let found = Self.value(at: steps[...], in: value, of: value), !found.isAbsent else {
      return []
    }
    return found.arrayValue ?? found.opened?.arrayValue ?? [found]
  }

  /// - Parameter body: The root of the paths in ``Step/matching(_:_:)``.
  private static func value(
    at steps: ArraySlice<Step>, in value: JSONValue, of body: JSONValue
  ) -> JSONValue? {
    guard let step = steps.first else { return value }
    let rest = steps.dropFirst()
    // Fields of forms may contain JSON, and some senders put JSON as text into JSON.
    let value = value.opened ?? value
    switch step {
    case .member(let name): return value[name].flatMap { Self.value(at: rest, in: $0, of: body) }
    case .index(let index):
      guard let list = value.arrayValue, list.indices.contains(index) else { return nil }
      return Self.value(at: rest, in: list[index], of: body)
    case .matching(let name, let path):
      guard let expected = Self.value(at: path[...], in: body, of: body)?.scalarText,
        let element = value.arrayValue?.first(where: { element in
          // Bytes are compared, because comparing untrusted strings may take quadratic time.
          element[name]?.scalarText?.utf8.elementsEqual(expected.utf8) == true
        })
      else { return nil }
      return Self.value(at: rest, in: element, of: body)
    case .elements:
      return value.arrayValue.map { list in
        .array(list.compactMap { Self.value(at: rest, in: $0, of: body) }.filter { !$0.isAbsent })
      }
    }
  }
}

extension JSONValue {
  /// Whether the value counts as absent: null, blank text or an empty list.
  var isAbsent: Bool {
    switch self {
    case .null: true
    case .string(let text): text.utf8.allSatisfy { $0 == 0x20 || (0x09...0x0D).contains($0) }
    case .array(let elements): elements.isEmpty
    case .bool, .integer, .number, .object: false
    }
  }

  /// The object or list that results from parsing this text as JSON, or `nil` if there is none.
  var opened: JSONValue? {
    guard case .string(let text) = self else { return nil }
    let start = text.utf8.first { $0 != 0x20 && !(0x09...0x0D).contains($0) }
    guard start == UInt8(ascii: "{") || start == UInt8(ascii: "[") else { return nil }
    return JSONValue(lenient: Array(text.utf8), limits: WebhookGate.limits)
  }

  /// The text of a single value, or of a list of texts.
  var wordsText: String? {
    guard case .array(let elements) = self else { return scalarText }
    let texts = elements.compactMap(\.stringValue)
    return texts.count == elements.count ? texts.joined(separator: ", ") : nil
  }

  /// The text of a single value, or `nil` for lists and objects.
  var scalarText: String? {
    switch self {
    case .string(let text): text
    case .integer(let integer): String(integer)
    case .number(let number): number.description
    case .bool(let bool): bool ? "true" : "false"
    case .null, .array, .object: nil
    }
  }

  /// The time that the value denotes, in milliseconds since 1970. The value is in RFC 3339 form, in
  /// seconds, or in milliseconds.
  var milliseconds: Int? {
    if case .string(let text) = self, let time = PlatformTime.milliseconds(text) { return time }
    guard let number = looseNumber, number >= 0 else { return nil }
    // In seconds, 1e11 is in the year 5138; in milliseconds, it is in 1973.
    let milliseconds = number < 1e11 ? number * 1000 : number
    return milliseconds <= Double(EventLimits.timestamps.upperBound) ? Int(milliseconds) : nil
  }
}
