import JSON
import LiveEvents
import PlatformFormats
import WireFormats

/// What deliveries of a platform mean: a table of rules, each of which makes an event of those that it fits.
package struct WebhookMapping: Sendable {
  struct Rule: Sendable {
    /// Where it is, for people: `owncast.yaml:12`.
    var location: String
    /// All must have one of the values, and none of those that begin with `!`; the empty text is
    /// nothing.
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
  /// Where senders that can do nothing else put the secret; shown nowhere.
  var secret: DeliveredValue?
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
    identifier?.values(in: delivery, element: nil).lazy.compactMap(\.scalarText).first
  }

  /// The native lines of a delivery, without their ends; none if no rule fits.
  package func lines(
    of delivery: WebhookDelivery, check: NativeLineCheck
  ) throws(WebhookFault) -> [[UInt8]] {
    try map(delivery, check: check).lines
  }

  /// What a delivery is as events.
  package func map(
    _ delivery: WebhookDelivery, check: NativeLineCheck
  ) throws(WebhookFault) -> MappedDelivery {
    let identifier = identifier(of: delivery)
    var mapped = MappedDelivery()
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
