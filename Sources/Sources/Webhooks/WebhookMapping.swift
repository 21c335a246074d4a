import JSON
import LiveEvents
import PlatformFormats
import WireFormats

/// What deliveries of a platform mean: a table of rules, each of which makes an event of those that it fits.
package struct WebhookMapping: Sendable {
  struct Rule: Sendable {
    /// Where it is, for people: `owncast.yaml:12`.
    var location: String
    /// All must have one of the values.
    var conditions: [(value: DeliveredValue, texts: [String])] = []
    /// The list to whose elements it is applied, one by one.
    var each: [DeliveredValue.Step]?
    var type: String
    var members: [(member: MappedMember, value: DeliveredValue)] = []
  }

  var rules: [Rule] = []
  /// What tells two deliveries apart; a repeat has the same.
  var identifier: DeliveredValue?
  /// When it happened.
  var time: DeliveredValue?
  /// What a sender wants to hear.
  package var reply = ""

  /// How many lines a delivery may give.
  static let maximumLines = 256
}

/// Why a delivery cannot be taken, for people.
package struct WebhookFault: Error, Equatable, Sendable {
  package var text: String
}

extension WebhookMapping {
  /// What identifies a delivery; `nil` if the mapping or the delivery does not say.
  func identifier(of delivery: WebhookDelivery) -> String? {
    identifier?.value(in: delivery, element: nil)?.scalarText.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The native lines of a delivery, without their ends; none if no rule fits.
  package func lines(
    of delivery: WebhookDelivery, check: NativeLineCheck
  ) throws(WebhookFault) -> [[UInt8]] {
    let identifier = identifier(of: delivery)
    let time = time?.value(in: delivery, element: nil)?.milliseconds
    var lines: [[UInt8]] = []
    for rule in rules where rule.fits(delivery) {
      let elements: [JSONValue?]
      if let each = rule.each {
        elements = DeliveredValue.value(at: each, in: delivery.body)?.arrayValue ?? []
      } else {
        elements = [nil]
      }
      guard lines.count + elements.count <= Self.maximumLines else {
        throw WebhookFault(text: "more than \(Self.maximumLines) events in one delivery")
      }
      for element in elements {
        // An event without an identifier of its own has that of its delivery.
        let fallback = identifier.map { lines.isEmpty ? $0 : "\($0)/\(lines.count)" }
        let line = try rule.line(delivery, element, time: time, identifier: fallback)
        if let fault = check.fault(of: line) {
          throw WebhookFault(text: "\(rule.location): \(fault)")
        }
        lines.append(line)
      }
    }
    return lines
  }
}

extension WebhookMapping.Rule {
  func fits(_ delivery: WebhookDelivery) -> Bool {
    conditions.allSatisfy { condition in
      guard let text = condition.value.value(in: delivery, element: nil)?.scalarText else {
        return false
      }
      // As bytes: what others send must not be compared as text, which may take the square of its length.
      return condition.texts.contains { $0.utf8.elementsEqual(text.utf8) }
    }
  }

  func line(
    _ delivery: WebhookDelivery, _ element: JSONValue?, time: Int?, identifier: String?
  ) throws(WebhookFault) -> [UInt8] {
    var found: [(member: MappedMember, value: JSONValue)] = []
    for (member, source) in members {
      guard var value = source.value(in: delivery, element: element) else { continue }
      // Names of channels become rooms, as everywhere else.
      if member.name == "room", let text = value.scalarText {
        value = .string(text.clipped(to: EventLimits.nameLength).lowercased())
      }
      found.append((member, value))
    }
    var wrong: MappedMember?
    let line = JSONWriter.object(type: type) { writer in
      writer.add("ts", time)
      if MappedMember.identified.contains(type), let identifier,
        !members.contains(where: { $0.member.name == "id" })
      {
        writer.add("id", identifier.clipped)
      }
      for (member, value) in found where !member.name.hasPrefix("user.") {
        if !member.write(value, to: &writer) { wrong = wrong ?? member }
      }
      let user = found.filter { $0.member.name.hasPrefix("user.") }
      guard !user.isEmpty else { return }
      writer.addObject("user") { writer in
        for (member, value) in user {
          if !member.write(value, to: &writer) { wrong = wrong ?? member }
        }
        // Who has an identifier only is called by it.
        if let id = user.first(where: { $0.member.name == "user.id" }),
          !user.contains(where: { $0.member.name == "user.name" })
        {
          writer.add("name", id.value.scalarText?.clipped)
        }
      }
    }
    if let wrong {
      throw WebhookFault(
        text: "\(location): '\(wrong.name)' of \(type) is to be \(wrong.example)")
    }
    return line
  }
}

/// Reads native lines as the daemon will. Belongs to one event loop.
package final class NativeLineCheck {
  private var decoder = LineDecoder()

  package init() {}

  /// Why the daemon would reject a line, for people; `nil` if it takes it. O(length).
  package func fault(of line: [UInt8]) -> String? {
    rejection(of: line)?.text
  }

  func rejection(of line: [UInt8]) -> (reason: RejectionReason, text: String)? {
    let slab = ByteSlab(line)
    let slice = ByteSlab.Slice(offset: 0, count: line.count)
    // Senders choose the names of rooms.
    if decoder.roomCount > 256 { decoder.forgetRooms() }
    guard case .rejected(let reason, _) = decoder.decode(slab, line: slice, arrival: 0) else {
      return nil
    }
    return (reason, reason.meaning(decoder.fault(of: slice, in: slab)))
  }
}
