import ChatImport
import Compression
package import JSON
package import LiveSources
package import NIOHTTP1

/// The HTTP answer to a webhook request.
package struct WebhookAnswer: Error, Equatable, Sendable {
  package var status: Int
  package var text: String

  package init(_ status: Int, _ text: String = "") {
    self.status = status
    self.text = text
  }

  /// Whether the sender should retry.
  package var isTemporary: Bool { status == 503 }
}

/// Authenticates webhook requests, using only the request head if possible, and decodes their
/// bodies.
package struct WebhookGate: Sendable {
  /// The hash of the secret. `nil` if no secret is required.
  private let secret: [UInt8]?
  /// The secret as the key of signatures.
  private let key: Secret?
  /// The maximum size of a body in bytes, before and after decompression.
  package let maximumBytes: Int
  /// The location of the secret in the body, if the sender puts it there.
  var secretInBody: DeliveredValue?
  /// The header with the HMAC-SHA256 of the body, as an alternative to the secret.
  var signature: String?
  /// The member in which to wrap a body that lacks it.
  var wrapper: String?

  package init(secret: Secret?, maximumBytes: Int) {
    self.secret = secret.map { $0.reveal { SHA256.hash(Array($0.utf8)) } }
    key = secret
    self.maximumBytes = maximumBytes
  }

  /// Returns the answer that refuses a request, or `nil` if its body may be read.
  package func refusal(of head: HTTPRequestHead) -> WebhookAnswer? {
    guard head.method == .POST else { return WebhookAnswer(405, "send events by POST") }
    // A web page in a browser on this machine could post to any local address. Browsers then add an
    // `Origin` header.
    guard !head.headers.contains(name: "Origin") else {
      return WebhookAnswer(403, "web pages may not send events")
    }
    let isSigned = signature.map { head.headers.contains(name: $0) } ?? false
    guard knowsSecret(head) || secretInBody != nil || isSigned else { return Self.unknown }
    if let length = head.headers.first(name: "Content-Length").flatMap({ Int($0) }),
      length > maximumBytes
    {
      return tooLong
    }
    return nil
  }

  package var tooLong: WebhookAnswer {
    WebhookAnswer(413, "the body is longer than \(maximumBytes) bytes")
  }

  private static let unknown = WebhookAnswer(401, "the secret is missing or wrong")

  /// Returns the answer that refuses a delivery after its body was read, or `nil` if it is
  /// accepted. `body` is as received.
  func refusal(
    of delivery: WebhookDelivery, _ body: [UInt8], _ head: HTTPRequestHead
  ) -> WebhookAnswer? {
    guard !knowsSecret(head) else { return nil }
    if let signature, let stated = head.headers.first(name: signature) {
      return isSigned(body, stated) ? nil : WebhookAnswer(401, "the signature is wrong")
    }
    let statedSecret = secretInBody?.value(in: delivery, element: nil)?.scalarText
    return statedSecret.map(isSecret) == true ? nil : Self.unknown
  }

  private func knowsSecret(_ head: HTTPRequestHead) -> Bool {
    guard secret != nil else { return true }
    let bearer = head.headers.first(name: "Authorization").flatMap {
      $0.lowercased().hasPrefix("bearer ") ? String($0.dropFirst(7)) : nil
    }
    let query = head.uri.firstIndex(of: "?").map { head.uri[head.uri.index(after: $0)...] } ?? ""
    let fields = FormFields.read(query.utf8)
    return [bearer, head.headers.first(name: "X-Livehost-Secret"), fields["secret"]]
      .contains { $0.map(isSecret) == true }
  }

  private func isSecret(_ text: String) -> Bool {
    guard let secret else { return true }
    // Hashes are compared, so that the duration reveals nothing about the secret.
    return Self.areEqual(SHA256.hash(Array(text.utf8)), secret)
  }

  /// Returns whether a text is the signature of a body, which some senders prefix with `sha256=`.
  private func isSigned(_ body: [UInt8], _ text: String) -> Bool {
    guard let key else { return true }
    let digits = text.hasPrefix("sha256=") ? text.dropFirst(7) : text[...]
    let signature = key.reveal { SHA256.authenticationCode(of: body, key: Array($0.utf8)) }
    let hexadecimal = signature.flatMap { byte -> [UInt8] in
      Array((byte < 16 ? "0" : "").utf8) + Array(String(byte, radix: 16).utf8)
    }
    return Self.areEqual(Array(digits.lowercased().utf8), hexadecimal)
  }

  /// Compares in a time that does not depend on the position of a difference.
  private static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }

  // MARK: Bodies

  /// The limits for parsing a body from an untrusted sender.
  static let limits = JSONLimits(nameBytes: 1024, members: 4096)

  /// Returns the decoded body of a request.
  package func value(
    of body: [UInt8], _ headers: HTTPHeaders
  ) throws(WebhookAnswer) -> JSONValue {
    let body = try inflated(body, encodings: headers[canonicalForm: "Content-Encoding"])
    let type = headers.first(name: "Content-Type")
    if let value = Self.value(of: body, type: type) {
      guard let wrapper, value.objectValue != nil, value[wrapper] == nil else { return value }
      return .object([JSONName(wrapper): value])
    }
    let name = (type ?? "").prefix { $0 != ";" }.lowercased().filter { $0 != " " }
    let isJSON =
      name.isEmpty || name.contains("json")
      || ["text/plain", "application/octet-stream"].contains(name)
    guard !isJSON else { throw WebhookAnswer(400, "the body is not valid JSON") }
    throw WebhookAnswer(
      415,
      "bodies of type \(Self.shown(name)) are not supported; send application/json or "
        + "application/x-www-form-urlencoded")
  }

  private func inflated(
    _ body: [UInt8], encodings: [Substring]
  ) throws(WebhookAnswer) -> [UInt8] {
    let names = encodings.map { $0.lowercased() }.filter { $0 != "identity" && !$0.isEmpty }
    // Some senders compress bodies without setting the header `Content-Encoding`.
    guard names.count == 1 || names.isEmpty && body.starts(with: GzipReader.magic) else {
      guard names.count > 1 else { return body }
      throw unknownEncoding(names.joined(separator: ","))
    }
    guard names.allSatisfy({ ["gzip", "x-gzip", "deflate"].contains($0) }) else {
      throw unknownEncoding(names[0])
    }
    do { return try InflatedBytes.read(body, limit: maximumBytes) } catch {
      throw error == .tooLong
        ? tooLong : WebhookAnswer(400, "the body is not valid gzip or deflate")
    }
  }

  private func unknownEncoding(_ name: String) -> WebhookAnswer {
    WebhookAnswer(
      415,
      "bodies encoded as \(Self.shown(name)) are not supported; use gzip, deflate or none")
  }

  /// Returns a word from a request, reduced to characters that are safe to show.
  private static func shown(_ text: String) -> String {
    let word = text.unicodeScalars.filter { (0x21...0x7E).contains($0.value) && $0 != "'" }.prefix(
      40)
    return "'\(String(String.UnicodeScalarView(word)))'"
  }

  /// Parses a body that is JSON or the fields of a form. Returns `nil` for any other body.
  package static func value(of body: [UInt8], type: String?) -> JSONValue? {
    if type?.lowercased().hasPrefix("application/x-www-form-urlencoded") == true {
      var members: [JSONName: JSONValue] = [:]
      for (name, text) in FormFields.read(body) { members[name] = .string(text) }
      return .object(members)
    }
    return JSONValue(lenient: body, limits: limits)
  }
}

/// Parses fields such as `a=b&c=d` in forms and queries.
enum FormFields {
  /// Returns the fields by name; the first of equal names counts. Reads at most 256 fields.
  static func read(_ text: some Collection<UInt8>) -> [JSONName: String] {
    var fields: [JSONName: String] = [:]
    for part in text.split(separator: UInt8(ascii: "&"), maxSplits: 256).prefix(256) {
      let name = JSONName(decoded(part.prefix { $0 != UInt8(ascii: "=") }))
      let value = part.drop { $0 != UInt8(ascii: "=") }.dropFirst()
      if fields[name] == nil { fields[name] = decoded(value) }
    }
    return fields
  }

  private static func decoded(_ text: some Collection<UInt8>) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let high = digit(rest.first),
        let low = digit(rest.dropFirst().first)
      {
        bytes.append(high << 4 | low)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8?) -> UInt8? {
    switch byte {
    case .some(0x30...0x39): byte.map { $0 - 0x30 }
    case .some(0x41...0x46), .some(0x61...0x66): byte.map { ($0 | 0x20) - 0x61 + 10 }
    default: nil
    }
  }
}
