/// What a request may do.
package enum Right: Int, Sendable, Comparable {
  /// Read what the control socket tells everybody.
  case reading
  /// Change something, too.
  case acting

  package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The secrets that give rights to whoever shows them.
package struct Tokens: Sendable {
  /// For overlays, which only read: it stands in their addresses, and so in the settings of other programs.
  package let reading: String
  package let acting: String

  /// Digits of one.
  static let length = 64

  /// New ones, of 256 random bits each.
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

  /// A new one for acting beside a known one for reading.
  package init(reading: String) { self.init(reading: reading, acting: Self().acting) }

  package init(reading: String, acting: String) {
    (self.reading, self.acting) = (reading, acting)
  }

  /// What `token` gives the right to; `nil` if it gives no right. Takes the same time for each that is wrong.
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
