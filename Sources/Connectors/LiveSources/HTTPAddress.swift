/// The address of a resource: `http://HOST[:PORT]/PATH`, or the same with the scheme `https`, `ws`
/// or `wss`.
package struct HTTPAddress: Equatable, Sendable, CustomStringConvertible {
  package enum Scheme: String, Sendable {
    case http
    case webSocket = "ws"
  }

  package var server: PeerAddress
  package var scheme: Scheme
  package var isEncrypted: Bool
  /// The path with its query, starting with a slash.
  package var path: String

  /// The maximum length of an address in bytes, needed because a server may send any address in a
  /// redirect.
  private static let longest = 2048

  /// Parses an address. Returns `nil` if the text is malformed or has another scheme.
  package init?(_ text: String, _ scheme: Scheme = .http) {
    guard text.utf8.count <= Self.longest, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return nil }
    let start = text.prefix { $0 != ":" }
    guard text.dropFirst(start.count).hasPrefix("://"),
      start == scheme.rawValue || start == scheme.rawValue + "s"
    else { return nil }
    let rest = text.dropFirst(start.count + 3)
    let host = rest.prefix { $0 != "/" && $0 != "?" }
    let tail = rest.dropFirst(host.count)
    self.scheme = scheme
    isEncrypted = start != scheme.rawValue
    guard let server = PeerAddress(String(host), defaultPort: isEncrypted ? 443 : 80),
      // User names and passwords are rejected, so that an address contains no secret and can be
      // printed.
      !host.contains("@")
    else { return nil }
    self.server = server
    path = tail.hasPrefix("/") ? String(tail) : "/" + tail
  }

  package var description: String {
    "\(scheme.rawValue)\(isEncrypted ? "s" : "")://\(server)\(path)"
  }

  /// Returns the address of another resource on the same server.
  package func with(path: String) -> HTTPAddress {
    var address = self
    address.path = path
    return address
  }

  /// Returns this address with `path` appended to its own path.
  package func appending(_ path: String) -> HTTPAddress {
    with(path: (self.path.hasSuffix("/") ? String(self.path.dropLast()) : self.path) + path)
  }
}

/// An HTTP request to a server.
package struct HTTPRequest: Sendable {
  package enum Method: String, Sendable {
    case get = "GET", post = "POST", put = "PUT", patch = "PATCH", delete = "DELETE"
  }

  package struct Body: Equatable, Sendable {
    package var type: String
    package var bytes: [UInt8]

    package init(type: String, _ bytes: [UInt8]) {
      self.type = type
      self.bytes = bytes
    }
  }

  package var method: Method
  package var address: HTTPAddress
  package var headers: [(name: String, value: String)]
  /// The value of the `Authorization` header.
  package var authorization: Secret?
  package var body: Body?

  package init(
    _ method: Method, _ address: HTTPAddress,
    headers: [(name: String, value: String)] = [], authorization: Secret? = nil, body: Body? = nil
  ) {
    self.method = method
    self.address = address
    self.headers = headers
    self.authorization = authorization
    self.body = body
  }
}

/// An HTTP response from a server.
package struct HTTPAnswer: Sendable {
  package var status: Int
  package var headers: [(name: String, value: String)]
  package var body: [UInt8]

  package init(
    status: Int, headers: [(name: String, value: String)] = [], body: [UInt8]
  ) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Returns the value of the first header with this name, ignoring case.
  package func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }
}
