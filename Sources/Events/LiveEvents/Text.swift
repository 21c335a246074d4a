import Glibc

/// A text of an event: bytes in a slab that are decoded on demand.
///
/// Two texts are equal if their decoded contents are equal, no matter where they are stored.
/// Decoders reject lines that are not valid UTF-8, so the bytes are valid.
public struct Text: Sendable {
  @usableFromInline let slab: ByteSlab
  @usableFromInline let slice: ByteSlab.Slice

  /// Creates the text at `slice` of `slab`. The bytes must be valid UTF-8 with valid escapes.
  @inlinable
  public init(slab: ByteSlab, slice: ByteSlab.Slice) {
    self.slab = slab
    self.slice = slice
  }

  /// Creates a text that owns its bytes.
  public init(_ string: String) {
    var string = string
    self = string.withUTF8 { utf8 in
      Text(slab: ByteSlab(utf8), slice: ByteSlab.Slice(offset: 0, count: utf8.count))
    }
  }

  @inlinable public var isEmpty: Bool { slice.isEmpty }

  /// The length in bytes before escapes are resolved, which the decoded text never exceeds.
  @inlinable public var byteCount: Int { slice.count }

  @inlinable public var escape: ByteSlab.Escape { slice.escape }

  /// Calls `body` with the bytes as received, including escapes. Never copies.
  @inlinable
  public func withRawBytes<R>(_ body: (UnsafeBufferPointer<UInt8>) throws -> R) rethrows -> R {
    try slab.withBytes(of: slice, body)
  }

  /// Calls `body` with the UTF-8 of the text. Copies only if the text contains escapes.
  @inlinable
  public func withUTF8<R>(_ body: (UnsafeBufferPointer<UInt8>) throws -> R) rethrows -> R {
    if slice.escape == .none { return try slab.withBytes(of: slice, body) }
    return try unescaped().withUnsafeBufferPointer(body)
  }

  /// Returns a copy in its own slab, so that the text does not keep a larger slab alive.
  public func owned() -> Text {
    withUTF8 { utf8 in
      Text(slab: ByteSlab(utf8), slice: ByteSlab.Slice(offset: 0, count: utf8.count))
    }
  }

  /// Returns the text truncated to at most `limit` bytes of UTF-8, at a scalar boundary.
  package func cut(to limit: Int) -> Text {
    withUTF8 { utf8 in
      guard utf8.count > limit else { return self }
      var end = limit
      while end > 0, utf8[end] & 0xC0 == 0x80 { end -= 1 }
      return Text(
        slab: ByteSlab(UnsafeBufferPointer(rebasing: utf8[..<end])),
        slice: ByteSlab.Slice(offset: 0, count: end))
    }
  }

  @usableFromInline
  func unescaped() -> [UInt8] {
    slab.withBytes(of: slice) { bytes in
      switch slice.escape {
      case .none: Array(bytes)
      case .json: Unescaping.json(bytes)
      case .ircTag: Unescaping.ircTag(bytes)
      case .jsonStrings: Unescaping.jsonStrings(bytes)
      }
    }
  }
}

extension Text: Hashable {
  @inlinable
  public static func == (lhs: Text, rhs: Text) -> Bool {
    lhs.withUTF8 { left in
      rhs.withUTF8 { right in
        left.count == right.count && haveEqualBytes(left, right)
      }
    }
  }

  /// Compares with `memcmp` instead of byte by byte, because moderation compares with each message
  /// of the history.
  @usableFromInline
  static func haveEqualBytes(
    _ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    guard let start = left.baseAddress, let other = right.baseAddress else { return true }
    return memcmp(start, other, left.count) == 0
  }

  @inlinable
  public func hash(into hasher: inout Hasher) {
    withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

extension Text: ExpressibleByStringLiteral, CustomStringConvertible {
  public init(stringLiteral value: String) { self.init(value) }
  public var description: String { String(self) }
}

extension String {
  /// Decodes a text, with one copy.
  public init(_ text: Text) {
    self = text.withUTF8 { String(decoding: $0, as: UTF8.self) }
  }
}
