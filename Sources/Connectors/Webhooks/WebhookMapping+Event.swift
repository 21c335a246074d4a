import ChatImport
import JSON
import LiveEvents

/// The events that a mapping creates from a delivery.
package struct MappedDelivery: Equatable, Sendable {
  /// Native lines without line endings. Empty if no rule matches.
  package var lines: [[UInt8]] = []
  /// The members that were omitted because the delivery has no usable value for them.
  package var unusable: [String] = []
}

extension WebhookMapping.Rule {
  /// Creates the event of a delivery.
  ///
  /// Each member gets the first of its values that the daemon accepts, and is omitted if there is
  /// none. A person's name and identifier replace each other if one is missing. If the rule sets no
  /// identifier for an event, the event gets `identifier`. Throws only if the type requires a
  /// member that has no usable value.
  func event(
    _ delivery: WebhookDelivery, _ element: JSONValue?, time: Int?, identifier: String?,
    _ check: NativeLineCheck
  ) throws(WebhookFault) -> (line: [UInt8], unusable: [String]) {
    var event = MappedEvent(rule: self, delivery: delivery, element: element)
    var first: String?
    while true {
      let line = event.line(time: time, identifier: identifier)
      guard let (reason, text) = check.rejection(of: line) else { return (line, event.unusable) }
      let name = reason == .invalidRoom ? "room" : text.quoted
      if reason != .missingMember, let name, event.skipValue(of: name) {
        first = first ?? text
        continue
      }
      // The member is missing because its only value was unusable.
      if let name, first == nil, event.unusable.contains(name) { throw event.fault(name) }
      throw WebhookFault(text: "\(location): \(first ?? text)")
    }
  }
}

/// An event while its values are being selected.
struct MappedEvent {
  let rule: WebhookMapping.Rule
  /// The candidate values of each member, of which the first is written.
  private var values: [ArraySlice<JSONValue>]
  /// The members for which a value was rejected.
  private(set) var unusable: [String] = []

  init(rule: WebhookMapping.Rule, delivery: WebhookDelivery, element: JSONValue?) {
    self.rule = rule
    values = rule.members.map { member, source in
      var values = Array(source.values(in: delivery, element: element))
      // Channel names in lower case are valid room names.
      if member.name == "room" {
        values = values.map { value in
          value.scalarText.map {
            .string($0.clipped(to: EventLimits.nameLength).lowercased())
          } ?? value
        }
      }
      return values[...]
    }
  }

  /// Skips to the next value of a member. Returns false if the member has no further value.
  mutating func skipValue(of name: String) -> Bool {
    guard let index = rule.members.firstIndex(where: { $0.member.name == name }),
      !values[index].isEmpty
    else { return false }
    values[index].removeFirst()
    recordUnusable(name)
    return true
  }

  private mutating func recordUnusable(_ name: String) {
    if !unusable.contains(name) { unusable.append(name) }
  }

  func fault(_ name: String) -> WebhookFault {
    let member = rule.members.first { $0.member.name == name }?.member
    return WebhookFault(
      text:
        "\(rule.location): '\(name)' of \(rule.type) must be \(member?.example ?? "another value")"
    )
  }

  mutating func line(time: Int?, identifier: String?) -> [UInt8] {
    var writer = JSONWriter()
    writer.appendObject(type: rule.type) { writer in
      writer.add("ts", time)
      if MappedMember.identified.contains(rule.type), let identifier,
        !has("id")
      {
        writer.add("id", identifier.clipped)
      }
      for (index, (member, _)) in rule.members.enumerated()
      where !member.name.hasPrefix("user.") {
        let isWritten = write(index, member, to: &writer)
        // An event without text still shows that the person did something.
        if !isWritten, member.name == "text", !isNothing, Self.worded.contains(rule.type) {
          writer.add("text", "")
        }
      }
      guard rule.members.contains(where: { $0.member.name.hasPrefix("user.") }) else { return }
      writer.addObject("user") { writer in
        for (index, (member, _)) in rule.members.enumerated()
        where member.name.hasPrefix("user.") {
          guard !write(index, member, to: &writer) else { continue }
          if member.name == "user.name" { writer.add("name", text("user.id") ?? nobody) }
          if member.name == "user.id" { writer.add("id", text("user.name") ?? nobody) }
        }
        if !has("user.name") { writer.add("name", text("user.id") ?? nobody) }
        if !has("user.id") { writer.add("id", text("user.name") ?? nobody) }
      }
    }
    return writer.bytes
  }

  /// The types that require a text.
  private static let worded: Set = ["chat.message", "announcement"]
  /// Whether this is a chat message that has neither a person nor a text, and would appear empty.
  /// An announcement that has neither still shows that something happened, such as a payment.
  private var isNothing: Bool {
    rule.type == "chat.message" && text("text") == nil && text("user.id") == nil
      && text("user.name") == nil
  }

  /// The name for a person whom the delivery does not name.
  private var nobody: String? { isNothing ? nil : "Someone" }

  private func has(_ name: String) -> Bool {
    rule.members.contains { $0.member.name == name }
  }

  /// Writes the first value that can be converted to the member's type.
  private mutating func write(
    _ index: Int, _ member: MappedMember, to writer: inout JSONWriter
  ) -> Bool {
    while let value = values[index].first {
      if member.write(value, to: &writer) {
        if member.isCut(value) { recordUnusable(member.name) }
        return true
      }
      values[index].removeFirst()
      recordUnusable(member.name)
    }
    return false
  }

  private func text(_ name: String) -> String? {
    guard let index = rule.members.firstIndex(where: { $0.member.name == name }) else { return nil }
    return values[index].lazy.compactMap(\.wordsText).first?.clipped
  }
}

extension String {
  /// The first part of the text that is in quotation marks.
  fileprivate var quoted: String? {
    let parts = split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
    return parts.count == 3 ? String(parts[1]) : nil
  }
}
