import JSON
import LiveEvents
import PlatformFormats
import WireFormats

/// Translates the deliveries of a sender: a table of rules, each of which makes events of the deliveries that match it.
package struct WebhookMapping: Sendable {
  struct Rule: Sendable {
    /// Where it is, for people: `owncast.yaml:12`.
    var location: String
    /// A delivery matches if each value is one of its texts, and none of those after `!`. The empty text means absent.
    var conditions: [(value: DeliveredValue, texts: [String])] = []
    /// The list for each of whose elements the rule makes an event.
    var each: [DeliveredValue.Step]?
    var type: String
    var members: [(member: MappedMember, value: DeliveredValue)] = []
  }

  var rules: [Rule] = []
  /// The value that identifies a delivery. Repeats have the same.
  var identifier: DeliveredValue?
  /// The time of the events.
  var time: DeliveredValue?
  /// Where a sender that cannot set headers puts the secret. Its value is never shown.
  var secret: DeliveredValue?
  /// The header that has the HMAC-SHA256 of the body by the secret, in hexadecimal digits.
  var signature: String?
  /// The member that holds everything, which some forwarders leave out. A delivery without it is read as its value.
  var wrapper: String?
  /// The body of the answer to a delivery.
  package var reply = ""

  /// The most lines that a delivery may become.
  static let maximumLines = 256
}

/// Why a delivery is refused, in words for people.
package struct WebhookFault: Error, Equatable, Sendable {
  package var text: String
}

extension WebhookMapping {
  /// What identifies a delivery; `nil` if the mapping or the delivery does not say.
  func identifier(of delivery: WebhookDelivery) -> String? {
    identifier?.values(in: delivery, element: nil).lazy.compactMap(\.scalarText).first
  }

  /// The native lines of a delivery, without their ends; none if no rule fits.
  package func lines(
    of delivery: WebhookDelivery, check: NativeLineCheck
  ) throws(WebhookFault) -> [[UInt8]] {
    try map(delivery, check: check).lines
  }

  /// Translates a delivery.
  package func map(
    _ delivery: WebhookDelivery, check: NativeLineCheck
  ) throws(WebhookFault) -> MappedDelivery {
    let identifiers = self.identifier?.values(in: delivery, element: nil)
    let identifier = identifiers?.lazy.compactMap(\.scalarText).first
    var mapped = MappedDelivery()
    if identifiers?.isEmpty == false, identifier == nil { mapped.odd.append("identifier") }
    let times = time?.values(in: delivery, element: nil)
    let time = times?.lazy.compactMap(\.milliseconds).first
    if times?.isEmpty == false, time == nil { mapped.odd.append("time") }
    for rule in rules where rule.fits(delivery) {
      let elements: [JSONValue?] =
        rule.each.map { DeliveredValue.list(at: $0, in: delivery.body) } ?? [nil]
      guard mapped.lines.count + elements.count <= Self.maximumLines else {
        throw WebhookFault(text: "more than \(Self.maximumLines) events in one delivery")
      }
      for element in elements {
        // An event without an identifier of its own has that of its delivery.
        let number = mapped.lines.count
        let fallback = identifier.map { number == 0 ? $0 : "\($0)/\(number)" }
        let (line, odd) = try rule.event(
          delivery, element, time: time, identifier: fallback, check)
        mapped.lines.append(line)
        mapped.odd += odd
      }
    }
    return mapped
  }
}

extension WebhookMapping.Rule {
  func fits(_ delivery: WebhookDelivery) -> Bool {
    conditions.allSatisfy { condition in
      // An absent value is the empty text. A list or object equals none of the texts.
      let value = condition.value.value(in: delivery, element: nil)
      let text = value.map { $0.scalarText ?? "\u{0}" } ?? ""
      // As bytes: what others send must not be compared as text, which may take the square of its length.
      func isValue(_ other: Substring) -> Bool { other.utf8.elementsEqual(text.utf8) }
      let (excluded, wanted) = (
        condition.texts.filter { $0.hasPrefix("!") }, condition.texts.filter { !$0.hasPrefix("!") }
      )
      return !excluded.contains { isValue($0.dropFirst()) }
        && (wanted.isEmpty || wanted.contains { isValue($0[...]) })
    }
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
