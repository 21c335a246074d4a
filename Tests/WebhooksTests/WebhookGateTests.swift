import JSON
import LiveSources
import NIOHTTP1
import TestSupport
import Testing
import Webhooks

struct WebhookGateTests {
  private static func status(
    _ gate: WebhookGate, _ method: HTTPMethod = .POST, _ uri: String = "/",
    _ headers: [(String, String)] = []
  ) -> Int? {
    gate.refusal(
      of: HTTPRequestHead(
        version: .http1_1, method: method, uri: uri, headers: HTTPHeaders(headers))
    )?.status
  }

  private static let gate = WebhookGate(secret: Secret("s3cret!"), maximumBytes: 1000)

  @Test func `the webhook secret is accepted in two headers and in the query`() {
    #expect(Self.status(Self.gate, .POST, "/", [("Authorization", "Bearer s3cret!")]) == nil)
    #expect(Self.status(Self.gate, .POST, "/", [("authorization", "bearer s3cret!")]) == nil)
    #expect(Self.status(Self.gate, .POST, "/", [("X-Livehost-Secret", "s3cret!")]) == nil)
    #expect(Self.status(Self.gate, .POST, "/hook?a=b&secret=s3cret%21") == nil)
  }

  @Test(arguments: [
    "/", "/?secret=", "/?secret=s3cret", "/?secret=S3CRET!", "/?secret=s3cret!x", "/s3cret!",
    "/?secret=wrong&secret=s3cret!", "/?secret=%", "/?secret",
  ])
  func `a wrong or missing webhook secret is refused`(uri: String) {
    #expect(Self.status(Self.gate, .POST, uri) == 401)
    #expect(Self.status(Self.gate, .POST, uri, [("Authorization", "Basic s3cret!")]) == 401)
  }

  @Test func `methods other than POST, requests from web pages and overlong bodies are refused`() {
    let gate = WebhookGate(secret: nil, maximumBytes: 1000)
    #expect(Self.status(gate) == nil)
    #expect(Self.status(gate, .GET) == 405)
    #expect(Self.status(gate, .OPTIONS) == 405)
    #expect(Self.status(gate, .POST, "/", [("Origin", "https://evil.example")]) == 403)
    #expect(Self.status(gate, .POST, "/", [("Content-Length", "1000")]) == nil)
    #expect(Self.status(gate, .POST, "/", [("Content-Length", "1001")]) == 413)
  }

  @Test func `printing the settings of a webhook does not reveal its secret`() {
    var text = ""
    dump(Self.gate, to: &text)
    #expect(!text.contains("s3cret"))
    #expect(!"\(Self.gate)".contains("s3cret"))
  }

  @Test func `the body of a webhook is read as JSON or as a form`() {
    func value(_ text: String, _ type: String?) -> JSONValue? {
      WebhookGate.value(of: Array(text.utf8), type: type)
    }
    #expect(value(#"{"a":1}"#, "application/json") == ["a": 1])
    #expect(value(#"{"a":1}"#, nil) == ["a": 1])
    #expect(value("nonsense", nil) == nil)
    #expect(value("", nil) == nil)
    #expect(
      value("app=live&name=a%20b+c&x&=&name=2", "application/x-www-form-urlencoded; charset=utf-8")
        == ["app": "live", "name": "a b c", "x": "", "": ""])
    #expect(value("%zz=%4", "application/x-www-form-urlencoded") == ["%zz": "%4"])
  }

  private static func read(_ body: [UInt8], _ headers: [(String, String)]) -> String {
    do throws(WebhookAnswer) {
      let value = try WebhookGate(secret: nil, maximumBytes: 1000).value(
        of: body, HTTPHeaders(headers))
      return String(decoding: value.serialized(), as: UTF8.self)
    } catch {
      return "\(error.status) \(error.text)"
    }
  }

  /// `{"a":1}` as gzip, zlib and raw deflate data.
  private static let gzipped: [UInt8] = [
    0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xAB, 0x56, 0x4A, 0x54, 0xB2, 0x32,
    0xAC, 0x05, 0x00, 0xAF, 0xAC, 0x1B, 0x56, 0x07, 0x00, 0x00, 0x00,
  ]
  private static let zlib: [UInt8] = [
    0x78, 0x9C, 0xAB, 0x56, 0x4A, 0x54, 0xB2, 0x32, 0xAC, 0x05, 0x00, 0x08, 0x2A, 0x02, 0x09,
  ]
  private static let raw: [UInt8] = [
    0xAB, 0x56, 0x4A, 0x54, 0xB2, 0x32, 0xAC, 0x05, 0x00,
  ]
  /// 2,000 spaces.
  private static let bomb: [UInt8] = [
    0x78, 0xDA, 0x53, 0x50, 0x18, 0x05, 0xA3, 0x60, 0x14, 0x8C, 0x82, 0x51, 0x30, 0x0A, 0x46, 0xC1,
    0x50, 0x07, 0x00, 0x4E, 0x0F, 0xFA, 0x01,
  ]

  @Test func `compressed bodies of webhooks are read`() {
    for encoding in ["gzip", "x-gzip", "GZIP", "gzip, identity"] {
      #expect(Self.read(Self.gzipped, [("Content-Encoding", encoding)]) == #"{"a":1}"#)
    }
    for body in [Self.zlib, Self.raw, Self.gzipped] {
      #expect(Self.read(body, [("Content-Encoding", "deflate")]) == #"{"a":1}"#)
    }
    // Some senders omit the header Content-Encoding.
    #expect(Self.read(Self.gzipped, []) == #"{"a":1}"#)
    for damaged in [Array(Self.gzipped.dropLast(9)), Array(Self.gzipped.prefix(5)), [0x41]] {
      #expect(
        Self.read(damaged, [("Content-Encoding", "gzip")])
          == "400 the body is not valid gzip or deflate")
    }
  }

  @Test func `a small compressed body that inflates to a large one is refused`() {
    #expect(
      Self.read(Self.bomb, [("Content-Encoding", "deflate")])
        == "413 the body is longer than 1000 bytes")
  }

  @Test(arguments: [
    (
      [("Content-Encoding", "br")],
      "415 bodies encoded as 'br' are not supported; use gzip, deflate or none"
    ),
    (
      [("Content-Encoding", "gzip, br")],
      "415 bodies encoded as 'gzip,br' are not supported; use gzip, deflate or none"
    ),
    (
      [("Content-Type", "multipart/form-data; boundary=x")],
      "415 bodies of type 'multipart/form-data' are not supported; send application/json or application/x-www-form-urlencoded"
    ),
    (
      [("Content-Type", "text/xml")],
      "415 bodies of type 'text/xml' are not supported; send application/json or application/x-www-form-urlencoded"
    ),
    ([("Content-Type", "application/json")], "400 the body is not valid JSON"),
    ([("Content-Type", "text/plain")], "400 the body is not valid JSON"),
    ([], "400 the body is not valid JSON"),
  ])
  func `the refusal of an unreadable body names the reason`(
    headers: [(String, String)], answer: String
  ) {
    #expect(Self.read(Array("<a>".utf8), headers) == answer)
  }

  @Test func `a JSON body is read with any media type, and with unusual values`() {
    for type in ["text/xml", "multipart/form-data", "application/vnd.api+json"] {
      #expect(Self.read(Array(#"{"a":1}"#.utf8), [("Content-Type", type)]) == #"{"a":1}"#)
    }
    #expect(Self.read(Array(#"{"a":"\ud800","b":NaN}"#.utf8), []) == #"{"a":"\#u{FFFD}","b":null}"#)
  }

  @Test func `100,000 seeded bodies are parsed without crashing`() {
    var generator = SplitMix64(seed: 19)
    let pieces = Array("a=&%+4{}[]\",:1é ")
    for _ in 0..<100_000 {
      let text = String(
        (0..<Int.random(in: 0...20, using: &generator)).map { _ in
          pieces.randomElement(using: &generator) ?? " "
        })
      _ = WebhookGate.value(of: Array(text.utf8), type: nil)
      #expect(
        WebhookGate.value(of: Array(text.utf8), type: "application/x-www-form-urlencoded") != nil)
    }
  }
}
