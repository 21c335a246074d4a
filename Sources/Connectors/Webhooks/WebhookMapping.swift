import ChatImport
import JSON
package import LiveEvents
import WireFormats

/// Translates deliveries from one sender with a table of rules. Each rule creates events from the
/// deliveries that match it.
package struct WebhookMapping: Sendable {
  struct Rule: Sendable {
    /// The human-readable location of the rule, such as `owncast.yaml:12`.
    var location: String
    /// The conditions, all of which must hold. A value must equal one of its texts and none of the
    /// texts after `!`. The empty text means absent.
    var conditions: [(value: DeliveredValue, texts: [String])] = []
    /// The path of a list, if the rule creates an event for each of its elements.
    var each: [DeliveredValue.Step]?
    var type: String
    var members: [(member: MappedMember, value: DeliveredValue)] = []
  }

  var rules: [Rule] = []
  /// The value by which repeated deliveries are recognised.
  var identifier: DeliveredValue?
  var time: DeliveredValue?
  /// The location of the secret, for senders that cannot set headers. Its value is never shown.
  var secret: DeliveredValue?
  /// The header with the HMAC-SHA256 of the body, keyed with the secret, in hexadecimal digits.
  var signature: String?
  /// The member that usually wraps the whole body. A body that consists only of this member's value
  /// is wrapped in the member before the rules apply.
  var wrapper: String?
  /// The body of the answer to a delivery.
  package var reply = ""

  /// The maximum number of lines from one delivery.
  static let maximumLines = 256
}

/// A human-readable reason for refusing a delivery.
package struct WebhookFault: Error, Equatable, Sendable {
  package var text: String
}

extension WebhookMapping {
  /// Returns the identifier of a delivery, or `nil` if the mapping or the delivery names none.
  func identifier(of delivery: WebhookDelivery) -> String? {
    identifier?.values(in: delivery, element: nil).lazy.compactMap(\.scalarText).first
  }

  /// Translates a delivery.
  package func map(
    _ delivery: WebhookDelivery, check: NativeLineCheck
  ) throws(WebhookFault) -> MappedDelivery {
    let identifiers = self.identifier?.values(in: delivery, element: nil)
    let identifier = identifiers?.lazy.compactMap(\.scalarText).first
    var mapped = MappedDelivery()
    if identifiers?.isEmpty == false, identifier == nil { mapped.unusable.append("identifier") }
    let times = time?.values(in: delivery, element: nil)
    let time = times?.lazy.compactMap(\.milliseconds).first
    if times?.isEmpty == false, time == nil { mapped.unusable.append("time") }
    for rule in rules where rule.fits(delivery) {
      let elements: [JSONValue?] =
        rule.each.map { DeliveredValue.list(at: $0, in: delivery.body) } ?? [nil]
      guard mapped.lines.count + elements.count <= Self.maximumLines else {
        throw WebhookFault(text: "more than \(Self.maximumLines) events in one delivery")
      }
      for element in elements {
        // An event without an identifier gets one that is derived from the delivery's identifier.
        let number = mapped.lines.count
        let fallback = identifier.map { number == 0 ? $0 : "\($0)/\(number)" }
        let (line, unusable) = try rule.event(
          delivery, element, time: time, identifier: fallback, check)
        mapped.lines.append(line)
        mapped.unusable += unusable
      }
    }
    return mapped
  }
}

extension WebhookMapping.Rule {
  func fits(_ delivery: WebhookDelivery) -> Bool {
    conditions.allSatisfy { condition in
      // An absent value counts as the empty text. A list or object never equals a text.
      let value = condition.value.value(in: delivery, element: nil)
      let text = value.map { $0.scalarText ?? "\u{0}" } ?? ""
      // Bytes are compared, because comparing untrusted strings may take quadratic time.
      func isValue(_ other: Substring) -> Bool { other.utf8.elementsEqual(text.utf8) }
      let (excluded, included) = (
        condition.texts.filter { $0.hasPrefix("!") }, condition.texts.filter { !$0.hasPrefix("!") }
      )
      return !excluded.contains { isValue($0.dropFirst()) }
        && (included.isEmpty || included.contains { isValue($0[...]) })
    }
  }
}

/// Validates native lines in the same way as the daemon. Belongs to one event loop.
package final class NativeLineCheck {
  private var decoder = LineDecoder()

  package init() {}

  /// Returns the reason why the daemon would reject a line, with a human-readable text, or `nil` if
  /// the daemon would accept the line. Takes O(length).
  package func rejection(of line: [UInt8]) -> (reason: RejectionReason, text: String)? {
    let slab = ByteSlab(line)
    let slice = ByteSlab.Slice(offset: 0, count: line.count)
    // Senders choose the names of rooms, so the table of rooms is cleared before it grows too
    // large.
    if decoder.roomCount > 256 { decoder.forgetRooms() }
    guard case .rejected(let reason, _) = decoder.decode(slab, line: slice, arrival: 0) else {
      return nil
    }
    return (reason, reason.explanation(decoder.fault(of: slice, in: slab)))
  }
}
