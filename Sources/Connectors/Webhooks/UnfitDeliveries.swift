import ChatImport
import JSON

/// Counts, by kind, the deliveries that match no rule, and describes the last of them.
///
/// The kind is the value that the mapping's conditions examine. The description contains only the
/// names and types of members, since values may be secrets or people's names.
struct UnfitDeliveries: Sendable {
  private static let maximumKinds = 16

  private var kinds: [String: Int] = [:]
  private var shape = ""

  mutating func add(_ delivery: WebhookDelivery, _ mapping: WebhookMapping) {
    let kind = mapping.kind(of: delivery) ?? "without a kind"
    let isListed = kinds.count < Self.maximumKinds || kinds[kind] != nil
    kinds[isListed ? kind : "others", default: 0] += 1
    shape = DeliveryShape.text(of: delivery.body)
  }

  /// A text such as `: 2 Commission, 1 Refund; the last one has {...}`.
  var text: String {
    let counts = kinds.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
      .map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    return ": \(counts.clipped(to: 80)); the last one has \(shape)"
  }
}

extension WebhookMapping {
  /// Returns the values that the mapping's conditions examine in a delivery.
  func kind(of delivery: WebhookDelivery) -> String? {
    var words: [String] = []
    for rule in rules {
      for (value, _) in rule.conditions where value.origins.allSatisfy(\.isKind) {
        let text = value.value(in: delivery, element: nil)?.scalarText
        guard let word = text.flatMap(DeliveryShape.word), !words.contains(word) else { continue }
        words.append(word)
      }
    }
    return words.isEmpty ? nil : words.joined(separator: "/")
  }
}

extension DeliveredValue.Origin {
  /// Whether the value's name suggests that it is a kind, not data about a person.
  fileprivate var isKind: Bool {
    let name: String? =
      switch self {
      case .body(let steps), .element(let steps):
        if case .member(let name)? = steps.last { name } else { nil }
      case .header(let name): name
      case .literal, .template: nil
      }
    let words = ["type", "kind", "event", "topic", "action", "trigger", "status"]
    return name.map { name in words.contains { name.lowercased().hasSuffix($0) } } ?? false
  }
}

/// Describes the names and types of the members of a delivery.
enum DeliveryShape {
  private static let maximumDepth = 3
  private static let maximumMembers = 16
  private static let maximumLength = 140

  static func text(of body: JSONValue) -> String {
    let text = text(body, depth: 0)
    return text.utf8.count > maximumLength ? text.clipped(to: maximumLength - 3) + "..." : text
  }

  private static func text(_ value: JSONValue, depth: Int) -> String {
    switch value {
    case .null: return "null"
    case .bool: return "boolean"
    case .integer, .number: return "number"
    case .string: return value.opened.map { text($0, depth: depth) } ?? "text"
    case .array(let elements):
      guard let first = elements.first, depth < maximumDepth else { return "list" }
      return "[\(text(first, depth: depth + 1))]"
    case .object(let members):
      guard depth < maximumDepth else { return "object" }
      var parts = members.sorted { $0.key < $1.key }.prefix(maximumMembers).map {
        "\(word($0.key.text) ?? "?"): \(text($0.value, depth: depth + 1))"
      }
      if members.count > maximumMembers { parts.append("...") }
      return "{\(parts.joined(separator: ", "))}"
    }
  }

  /// Returns the text if it looks like a program's identifier. Any other text may be data, such as
  /// a person's name.
  static func word(_ text: String) -> String? {
    let isWord =
      (1...40).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0)
          || "_-.:/ ".utf8.contains($0)
      } && text.utf8.contains { (0x61...0x7A).contains($0 | 0x20) }
    return isWord ? text : nil
  }
}
