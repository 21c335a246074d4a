import LiveSources

/// The secret tokens of the links that the program prints.
package struct Tokens: Sendable {
  /// The token for overlays, which grants only reading. It is part of the overlays' addresses,
  /// which users enter in the settings of other programs.
  package let reading: String
  /// The token of the host.
  package let acting: String

  static let length = 64

  /// Creates new tokens.
  package init() { self.init(reading: Self.random(), acting: Self.random()) }

  /// Creates a new token for acting, and uses an existing token for reading.
  package init(reading: String) { self.init(reading: reading, acting: Self.random()) }

  package init(reading: String, acting: String) {
    (self.reading, self.acting) = (reading, acting)
  }

  /// Returns a new token: 256 random bits, in hexadecimal digits.
  static func random() -> String {
    var random = SystemRandomNumberGenerator()
    return (0..<4).map { _ in
      let digits = String(random.next() as UInt64, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// Returns the hash of a token, for storage. SHA-256 without salt suffices: passwords need a slow
  /// hash with salt because they can be guessed, but nobody can try 2^256 tokens.
  static func hash(of token: String) -> String {
    SHA256.hash(Array(token.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// Returns the role that `token` grants; `nil` if none. The comparison takes the same time for
  /// every wrong token of the right length.
  package func role(of token: String?) -> PageRole? {
    guard let token else { return nil }
    let (acts, reads) = (Self.equal(token, acting), Self.equal(token, reading))
    return acts ? .host : reads ? .viewer : nil
  }

  private static func equal(_ left: String, _ right: String) -> Bool {
    let (left, right) = (Array(left.utf8), Array(right.utf8))
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
