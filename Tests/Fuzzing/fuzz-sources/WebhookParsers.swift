import ChatImport
import FuzzSupport
import JSON
import LiveEvents
import Webhooks
import WireFormats
import YAMLReader

/// Reads bodies of webhook deliveries, as JSON and as forms, with a mapping that uses every feature
/// of mappings.
final class WebhookParser: Parser {
  private let mapping: WebhookMapping
  private let taken = NativeLineCheck()

  init() throws {
    mapping = try WebhookMapping(
      """
      identifier: id | header:x
      time: at
      events:
        - when: {a: [x, 1]}
          type: chat.message
          members: {user.id: c, user.name: html:b, text: b.d | =t, user.badges: b, bits: c}
        - {each: b, type: follow, members: {user.id: each.c | each}}
        - {when: {c: true}, type: poll.begin, members: {id: a, title: c, options: b, endsAt: c}}
      """, file: "m")
  }

  func read(_ bytes: UnsafeBufferPointer<UInt8>) {
    for type in [nil, "application/x-www-form-urlencoded"] {
      guard let body = WebhookGate.value(of: Array(bytes), type: type) else { continue }
      let delivery = WebhookDelivery(body: body)
      guard let lines = try? mapping.map(delivery, check: taken).lines else { continue }
      for line in lines { check("a line is valid", taken.rejection(of: line) == nil) }
    }
  }
}

/// Reads mappings.
final class MappingParser: Parser {
  func read(_ bytes: UnsafeBufferPointer<UInt8>) {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let mapping = try? WebhookMapping(text, file: "m") else { return }
    _ = try? mapping.map(WebhookDelivery(body: ["a": 1]), check: NativeLineCheck())
  }
}

/// Reads messages of Social Stream Ninja, one per line.
final class SocialStreamParser: Parser {
  private let taken = NativeLineCheck()

  func read(_ bytes: UnsafeBufferPointer<UInt8>) {
    var chat = SocialStreamChat(room: nil, run: "run")
    for line in bytes.split(separator: 0x0A) {
      guard let message = JSONValue(lenient: Array(line)) else { continue }
      var lines = NativeLines()
      chat.translate(message, at: 0, into: &lines)
      for line in lines.bytes.split(separator: 0x0A) {
        check("a line is valid", taken.rejection(of: Array(line)) == nil)
      }
    }
  }
}
