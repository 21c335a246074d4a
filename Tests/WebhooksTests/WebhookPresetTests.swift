import Foundation
import JSON
import LiveSources
import NIOHTTP1
import TestSupport
import Testing
import Webhooks

/// Tests the built-in mappings with deliveries from the senders' documentation.
struct WebhookPresetTests {
  private static func map(
    _ preset: String, _ body: JSONValue, headers: [String: String] = [:]
  ) throws -> [String] {
    let mapping = try #require(try WebhookMapping.preset(preset))
    let delivery = WebhookDelivery(body: body, headers: headers)
    return try mapping.map(delivery, check: NativeLineCheck()).lines.map { line in
      String(decoding: line, as: UTF8.self).replacing(/"ts":[0-9]+,/, with: "")
    }
  }

  static let koFi =
    #"{"verification_token":"t0ken","message_id":"k-1","timestamp":"2026-11-20T20:00:00Z","type":"Donation","is_public":true,"from_name":"Ada","message":"Good luck","amount":"3.00","url":"https://ko-fi.com/x","email":"ada@example.com","currency":"USD","is_subscription_payment":false,"is_first_subscription_payment":false,"kofi_transaction_id":"x-1","shop_items":null,"tier_name":null,"shipping":null}"#
  static let streamlabs =
    #"{"type":"donation","message":[{"id":96164121,"name":"test","amount":"13.37","formatted_amount":"$13.37","formattedAmount":"$13.37","message":"This is a test","currency":"USD","emotes":null,"iconClassName":"user","to":{"name":"me"},"from":"test","from_user_id":null,"_id":"d1"}],"for":"streamlabs","event_id":"evt_1"}"#
  static let streamElements =
    #"{"_id":"5b2e","channel":"c","type":"tip","provider":"twitch","createdAt":"2026-11-20T20:00:00Z","data":{"tipId":"t1","username":"styler","displayName":"Styler","providerId":"46","amount":12,"currency":"EUR","message":"hello","avatar":"https://x"},"activityId":"a1"}"#
  static let coffee =
    #"{"type":"donation.created","live_mode":true,"attempt":1,"created":1780394554,"event_id":580796,"data":{"id":58,"amount":5,"object":"payment","status":"succeeded","message":"John bought you a coffee","currency":"USD","refunded":"false","created_at":1676544557,"note_hidden":"false","refunded_at":null,"support_note":"Thanks","support_type":"Supporter","supporter_name":"John","supporter_name_type":"default","transaction_id":"pi_3","application_fee":"0.25","supporter_id":2345,"supporter_email":"john@example.com","total_amount_charged":"5.45","coffee_count":1,"coffee_price":5}}"#
  static let patreon =
    #"{"data":{"type":"member","id":"m-1","attributes":{"full_name":"Pat Ron","patron_status":"active_patron","last_charge_status":"Paid","last_charge_date":null,"note":"private","pledge_relationship_start":"2026-11-20T20:00:00Z","currently_entitled_amount_cents":500},"relationships":{"user":{"data":{"id":"77","type":"user"}}}},"included":[{"type":"user","id":"77","attributes":{"full_name":"Pat Ron"}}]}"#

  private static func parsed(_ text: String) -> JSONValue {
    JSONValue(lenient: Array(text.utf8)) ?? .null
  }

  private static func form(_ data: String) -> JSONValue { .object(["data": .string(data)]) }

  @Test func `a donation through Ko-fi is shown with its message`() throws {
    #expect(
      try Self.map("ko-fi", Self.form(Self.koFi)) == [
        #"{"type":"announcement","id":"k-1","text":"3.00 USD: Good luck","user":{"name":"Ada","id":"Ada"}}"#
      ])
  }

  @Test(arguments: [
    (#""from_name":"Ada""#, #""from_name":"""#, #""name":"Someone""#, "3.00 USD: Good luck"),
    (#""message":"Good luck""#, #""message":"""#, #""name":"Ada""#, #""text":"3.00 USD""#),
    (#""message":"Good luck""#, #""message":null"#, #""name":"Ada""#, #""text":"3.00 USD""#),
    (#""is_public":true"#, #""is_public":false"#, #""name":"Someone""#, #""text":"3.00 USD""#),
    (
      #""type":"Donation""#, #""type":"Shop Order""#, #""name":"Ada""#,
      "Shop Order 3.00 USD: Good luck"
    ),
    (
      #""type":"Donation""#, #""type":"Something New""#, #""name":"Ada""#,
      "Something New 3.00 USD: Good luck"
    ),
    (#""type":"Donation""#, #""type":null"#, #""name":"Ada""#, "3.00 USD: Good luck"),
    (
      #""type":"Donation""#, #""type":"Subscription""#, #""kind":"resubscribe""#,
      #""text":"Good luck""#
    ),
  ])
  func `variants of Ko-fi's deliveries keep the person and the content`(
    part: String, other: String, who: String, what: String
  ) throws {
    let lines = try Self.map("ko-fi", Self.form(Self.koFi.replacing(part, with: other)))
    #expect(lines.count == 1 && lines[0].contains(who) && lines[0].contains(what), "\(lines)")
  }

  @Test func `a donation through Streamlabs is shown with its message`() throws {
    #expect(
      try Self.map("streamlabs", Self.parsed(Self.streamlabs)) == [
        #"{"type":"announcement","id":"d1","text":"$13.37: This is a test","user":{"id":"test","name":"test"}}"#
      ])
    let raid =
      #"{"type":"raid","message":[{"name":"bo","raiders":39,"_id":"r"}],"for":"twitch_account","event_id":"e"}"#
    #expect(
      try Self.map("streamlabs", Self.parsed(raid)) == [
        #"{"type":"chat.notice","id":"r","kind":"raid","count":39,"user":{"name":"bo","id":"bo"}}"#
      ])
    let resub =
      #"{"type":"resub","message":[{"name":"bo","months":10,"message":"ten","_id":"s"}],"for":"twitch_account"}"#
    #expect(
      try Self.map("streamlabs", Self.parsed(resub)) == [
        #"{"type":"chat.notice","id":"s","kind":"resubscribe","count":10,"text":"ten","user":{"name":"bo","id":"bo"}}"#
      ])
    let other =
      #"{"type":"justgivingdonation","message":[{"name":"bo","formatted_amount":"£9","message":"m","_id":"j"}]}"#
    #expect(
      try Self.map("streamlabs", Self.parsed(other)).first?.contains(#""text":"£9: m""#) == true)
  }

  @Test func `a tip through StreamElements is shown with its message in each format`() throws {
    let line =
      #"{"type":"announcement","id":"a1","text":"12 EUR: hello","user":{"id":"46","name":"Styler"}}"#
    #expect(try Self.map("streamelements", Self.parsed(Self.streamElements)) == [line])
    let wrapped =
      #"{"id":"n","ts":"2026-11-20T20:00:00Z","type":"message","topic":"channel.activities","data":\#(Self.streamElements)}"#
    #expect(try Self.map("streamelements", Self.parsed(wrapped)) == [line])
    let tips =
      #"{"id":"n","topic":"channel.tips","data":{"_id":"q","donation":{"user":{"username":"bo"},"amount":5,"currency":"USD","message":"m"}}}"#
    #expect(
      try Self.map("streamelements", Self.parsed(tips)).first?.contains(
        #""text":"5 USD: m","user":{"id":"bo","name":"bo"}"#) == true)
    let sub = Self.streamElements.replacing(#""type":"tip""#, with: #""type":"subscriber""#)
      .replacing(#""currency":"EUR","#, with: "")
    #expect(
      try Self.map("streamelements", Self.parsed(sub)) == [
        #"{"type":"chat.notice","id":"a1","kind":"resubscribe","count":12,"text":"hello","user":{"id":"46","name":"Styler"}}"#
      ])
  }

  @Test
  func `coffees from Buy Me a Coffee are shown with their message unless the message is hidden`()
    throws
  {
    #expect(
      try Self.map("buy-me-a-coffee", Self.parsed(Self.coffee)) == [
        #"{"type":"announcement","id":"580796","text":"5 USD: Thanks","user":{"id":"2345","name":"John"}}"#
      ])
    let hidden = Self.coffee.replacing(#""note_hidden":"false""#, with: #""note_hidden":true"#)
    #expect(
      try Self.map("buy-me-a-coffee", Self.parsed(hidden)).first?.contains(#""text":"5 USD""#)
        == true)
    let refund = Self.coffee.replacing("donation.created", with: "donation.refunded")
    #expect(try Self.map("buy-me-a-coffee", Self.parsed(refund)).isEmpty)
    let member =
      #"{"type":"membership.started","event_id":3,"data":{"supporter_name":"Jo","supporter_id":4,"support_note":"hi","membership_level_name":"Gold"}}"#
    #expect(
      try Self.map("buy-me-a-coffee", Self.parsed(member)) == [
        #"{"type":"chat.notice","id":"3","kind":"subscribe","count":1,"text":"hi","user":{"id":"4","name":"Jo"}}"#
      ])
  }

  @Test func `a Patreon pledge becomes a subscription, and the creator's note stays private`()
    throws
  {
    let headers = ["x-patreon-event": "members:pledge:create"]
    #expect(
      try Self.map("patreon", Self.parsed(Self.patreon), headers: headers) == [
        #"{"type":"chat.notice","id":"members:pledge:create/m-1","kind":"subscribe","count":1,"user":{"id":"77","name":"Pat Ron"}}"#
      ])
    #expect(
      try Self.map(
        "patreon", Self.parsed(Self.patreon), headers: ["x-patreon-event": "posts:publish"]
      )
      .isEmpty)
  }

  /// Returns variants of a delivery, each with an unusual value in place of one member at any
  /// depth.
  private static func variants(_ value: JSONValue) -> [(name: String, value: JSONValue)] {
    switch value {
    case .object(let members):
      return members.flatMap { name, inner -> [(name: String, value: JSONValue)] in
        let replaced = OddValues.json.map { (name: name.text, value: parsed($0)) } + variants(inner)
        return replaced.map { unusable in
          var copy = members
          copy[name] = unusable.value
          return (unusable.name, .object(copy))
        }
      }
    case .array(let elements):
      return elements.enumerated().flatMap { index, inner in
        variants(inner).map { unusable in
          var copy = elements
          copy[index] = unusable.value
          return (unusable.name, .array(copy))
        }
      }
    case .null, .bool, .integer, .number, .string: return []
    }
  }

  @Test(arguments: [
    // The excepted members contain the text or determine whether it is public.
    ("ko-fi", koFi, "Good luck", ["message", "is_public"]),
    ("streamlabs", streamlabs, "This is a test", ["message"]),
    ("streamelements", streamElements, "hello", ["message", "data"]),
    ("buy-me-a-coffee", coffee, "Thanks", ["support_note", "data", "note_hidden"]),
    ("patreon", patreon, "Pat Ron", ["full_name", "attributes", "data"]),
  ])
  func `an unusable value of a member loses neither a delivery nor its text`(
    preset: String, sample: String, words: String, except: [String]
  ) throws {
    let headers = ["x-patreon-event": "members:pledge:create"]
    var missing: [String] = []
    for (name, variant) in Self.variants(Self.parsed(sample)) {
      let text = String(decoding: variant.serialized(), as: UTF8.self)
      let lines = try Self.map(
        preset, preset == "ko-fi" ? Self.form(text) : variant, headers: headers)
      for secret in ["t0ken", "@example.com", "private"] {
        #expect(!lines.contains { $0.contains(secret) }, "\(name)")
      }
      let isComplete = lines.count == 1 && lines[0].contains(words)
      if !isComplete, !except.contains(name) { missing.append("\(text) gives \(lines)") }
    }
    #expect(missing.isEmpty, "\(missing.count): \(missing.prefix(3))")
  }
}
