import Compression
package import JSON
package import LiveSources
package import NIOHTTP1
import PlatformFormats

/// What a sender is told.
package struct WebhookAnswer: Error, Equatable, Sendable {
  package var status: Int
  package var text: String

  package init(_ status: Int, _ text: String = "") {
    self.status = status
    self.text = text
  }

  /// Whether the sender ought to try again.
  package var isTemporary: Bool { status == 503 }
}

/// Decides by the head of a request whether its body is worth reading.
package struct WebhookGate: Sendable {
  /// What a sender must know; `nil` takes requests of everybody.
  private let secret: [UInt8]?
  /// The longest body, in bytes, compressed or not.
  package let maximumBytes: Int
  /// Where in a delivery the secret may be as well.
  var secretInBody: DeliveredValue?

  package init(secret: Secret?, maximumBytes: Int) {
    self.secret = secret.map { $0.reveal { SHA256.hash(Array($0.utf8)) } }
    self.maximumBytes = maximumBytes
  }

  /// Why a request is refused; `nil` if its body is to be read.
  package func refusal(of head: HTTPRequestHead) -> WebhookAnswer? {
    guard head.method == .POST else { return WebhookAnswer(405, "send events by POST") }
    // A page in a browser on this machine may post to any address of it; browsers say where it is from.
    guard !head.headers.contains(name: "Origin") else {
      return WebhookAnswer(403, "pages in browsers may not send events")
    }
    guard knowsSecret(head) || secretInBody != nil else { return Self.unknown }
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

  /// Why a delivery is refused that was read.
  func refusal(of delivery: WebhookDelivery, _ head: HTTPRequestHead) -> WebhookAnswer? {
    guard !knowsSecret(head) else { return nil }
    let given = secretInBody?.value(in: delivery, element: nil)?.scalarText
    return given.map(isSecret) == true ? nil : Self.unknown
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
    // Of hashes, so that the time it takes says nothing about the secret.
    let hash = SHA256.hash(Array(text.utf8))
    return zip(hash, secret).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }

  // MARK: Bodies

  /// What a body may have, which strangers send.
  static let limits = JSONLimits(nameBytes: 1024, members: 4096)

  /// The body of a request as a value.
  package func value(
    of body: [UInt8], _ headers: HTTPHeaders
  ) throws(WebhookAnswer) -> JSONValue {
    let body = try inflated(body, encodings: headers[canonicalForm: "Content-Encoding"])
    let type = headers.first(name: "Content-Type")
    if let value = Self.value(of: body, type: type) { return value }
    let name = (type ?? "").prefix { $0 != ";" }.lowercased().filter { $0 != " " }
    let isJSON =
      name.isEmpty || name.contains("json")
      || ["text/plain", "application/octet-stream"].contains(name)
    guard !isJSON else { throw WebhookAnswer(400, "the body is not valid JSON") }
    throw WebhookAnswer(
      415,
      "bodies of type \(Self.shown(name)) are not read; send application/json or "
        + "application/x-www-form-urlencoded")
  }

  private func inflated(
    _ body: [UInt8], encodings: [Substring]
  ) throws(WebhookAnswer) -> [UInt8] {
    let names = encodings.map { $0.lowercased() }.filter { $0 != "identity" && !$0.isEmpty }
    // Some senders do not say that they compress.
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
      "bodies encoded as \(Self.shown(name)) are not read; send them plain, or as gzip or deflate")
  }

  /// A word of a stranger, as far as it can be shown.
  private static func shown(_ text: String) -> String {
    let word = text.unicodeScalars.filter { (0x21...0x7E).contains($0.value) && $0 != "'" }.prefix(
      40)
    return "'\(String(String.UnicodeScalarView(word)))'"
  }

  /// The body as a value: JSON, or the fields of a form.
  ///
  /// - Returns: `nil` if it is neither.
  package static func value(of body: [UInt8], type: String?) -> JSONValue? {
    if type?.lowercased().hasPrefix("application/x-www-form-urlencoded") == true {
      var members: [JSONName: JSONValue] = [:]
      for (name, text) in FormFields.read(body) { members[name] = .string(text) }
      return .object(members)
    }
    return JSONValue(lenient: body, limits: limits)
  }
}

/// `a=b&c=d`, as forms and queries have it.
enum FormFields {
  /// Of equal names the first counts. At most 256 fields are read.
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
