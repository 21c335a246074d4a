/// What a request may do, in ascending order.
package enum Right: Int, Sendable, Comparable {
  /// Grants the right to read everything that the control socket shows to every user.
  case reading
  /// Grants reading and changing.
  case acting

  package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The secret tokens that grant rights to their bearers.
package struct Tokens: Sendable {
  /// The token for overlays, which grants only reading. It is part of the overlays' addresses,
  /// which users enter in the settings of other programs.
  package let reading: String
  package let acting: String

  static let length = 64

  /// Creates new tokens of 256 random bits each.
  package init() {
    var random = SystemRandomNumberGenerator()
    func token() -> String {
      (0..<4).map { _ in
        let digits = String(random.next() as UInt64, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
      }.joined()
    }
    self.init(reading: token(), acting: token())
  }

  /// Creates a new token for acting, and uses an existing token for reading.
  package init(reading: String) { self.init(reading: reading, acting: Self().acting) }

  package init(reading: String, acting: String) {
    (self.reading, self.acting) = (reading, acting)
  }

  /// Returns the right that `token` grants; `nil` if none. The comparison takes the same time for
  /// every wrong token of the right length.
  package func right(of token: String?) -> Right? {
    guard let token else { return nil }
    let (acts, reads) = (Self.equal(token, acting), Self.equal(token, reading))
    return acts ? .acting : reads ? .reading : nil
  }

  private static func equal(_ left: String, _ right: String) -> Bool {
    let (left, right) = (Array(left.utf8), Array(right.utf8))
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
