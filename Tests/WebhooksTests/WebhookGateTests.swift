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

  @Test func `a secret is taken in three places`() {
    #expect(Self.status(Self.gate, .POST, "/", [("Authorization", "Bearer s3cret!")]) == nil)
    #expect(Self.status(Self.gate, .POST, "/", [("authorization", "bearer s3cret!")]) == nil)
    #expect(Self.status(Self.gate, .POST, "/", [("X-Livehost-Secret", "s3cret!")]) == nil)
    #expect(Self.status(Self.gate, .POST, "/hook?a=b&secret=s3cret%21") == nil)
  }

  @Test(arguments: [
    "/", "/?secret=", "/?secret=s3cret", "/?secret=S3CRET!", "/?secret=s3cret!x", "/s3cret!",
    "/?secret=wrong&secret=s3cret!", "/?secret=%", "/?secret",
  ])
  func `any other secret is refused`(uri: String) {
    #expect(Self.status(Self.gate, .POST, uri) == 401)
    #expect(Self.status(Self.gate, .POST, uri, [("Authorization", "Basic s3cret!")]) == 401)
  }

  @Test func `other methods, pages in browsers and long bodies are refused`() {
    let gate = WebhookGate(secret: nil, maximumBytes: 1000)
    #expect(Self.status(gate) == nil)
    #expect(Self.status(gate, .GET) == 405)
    #expect(Self.status(gate, .OPTIONS) == 405)
    #expect(Self.status(gate, .POST, "/", [("Origin", "https://evil.example")]) == 403)
    #expect(Self.status(gate, .POST, "/", [("Content-Length", "1000")]) == nil)
    #expect(Self.status(gate, .POST, "/", [("Content-Length", "1001")]) == 413)
  }

  @Test func `nothing that is printed shows the secret`() {
    var text = ""
    dump(Self.gate, to: &text)
    #expect(!text.contains("s3cret"))
    #expect(!"\(Self.gate)".contains("s3cret"))
  }

  @Test func `a body is JSON or a form`() {
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

  @Test func `100,000 seeded bodies are read`() {
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
