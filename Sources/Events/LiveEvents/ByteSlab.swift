/// A block of received bytes that is shared by the events decoded from it.
///
/// A text in an event is an offset and a length in its slab. It becomes a `String` only when it is
/// read, because most text of a busy stream is counted and recorded but never read. The bytes do
/// not change after `init`.
///
/// An event that is kept for long should own its text (``Text/owned()``). Otherwise, a message of
/// 40 bytes keeps a slab of about 64 KiB alive.
public final class ByteSlab: Sendable {
  /// The number of readable bytes after the data. The JSON parser reads in blocks, up to this far
  /// past the end of a line.
  public static let padding = 64

  /// The number of bytes that contain data.
  public let count: Int

  // Reading from any thread is safe, because only `init` writes the bytes and only `deinit` frees
  // them.
  @usableFromInline
  nonisolated(unsafe) let base: UnsafeMutablePointer<UInt8>

  /// Creates a slab of at most `capacity` bytes. `fill` writes the bytes and returns their number.
  public init(
    capacity: Int, filledBy fill: (UnsafeMutableBufferPointer<UInt8>) throws -> Int
  ) rethrows {
    precondition(
      capacity >= 0 && capacity <= Int(UInt32.max), "a slab is addressed by 32-bit offsets")
    let base = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity + Self.padding)
    do {
      let written = try fill(UnsafeMutableBufferPointer(start: base, count: capacity))
      precondition(written >= 0 && written <= capacity)
      (base + written).initialize(repeating: 0, count: Self.padding)
      self.base = base
      self.count = written
    } catch {
      base.deallocate()
      throw error
    }
  }

  /// Creates a slab with a copy of `bytes`.
  public convenience init(_ bytes: some Collection<UInt8>) {
    self.init(capacity: bytes.count) { target in
      _ = target.initialize(fromContentsOf: bytes)
      return bytes.count
    }
  }

  deinit { base.deallocate() }

  /// Calls `body` with the bytes. The buffer must not escape. Up to ``padding`` bytes after its end
  /// are readable but unspecified.
  @inlinable
  public func withBytes<R>(_ body: (UnsafeBufferPointer<UInt8>) throws -> R) rethrows -> R {
    try body(UnsafeBufferPointer(start: base, count: count))
  }

  /// Calls `body` with the bytes of `slice`. The buffer must not escape.
  @inlinable
  public func withBytes<R>(
    of slice: Slice, _ body: (UnsafeBufferPointer<UInt8>) throws -> R
  ) rethrows -> R {
    precondition(Int(slice.offset) + slice.count <= count)
    return try body(UnsafeBufferPointer(start: base + Int(slice.offset), count: slice.count))
  }
}

extension ByteSlab {
  /// The location of a text in a slab, and the escaping of its bytes.
  public struct Slice: Sendable, Hashable {
    public var offset: UInt32
    /// The length in bytes in the low 30 bits, and the escaping in the high two.
    @usableFromInline var bits: UInt32

    @inlinable
    public init(offset: Int, count: Int, escape: Escape = .none) {
      precondition(count < 1 << 30)
      self.offset = UInt32(offset)
      self.bits = UInt32(count) | (escape.rawValue << 30)
    }

    @inlinable public static var empty: Slice { Slice(offset: 0, count: 0) }

    /// The length in bytes, including escapes.
    @inlinable public var count: Int { Int(bits & 0x3FFF_FFFF) }
    @inlinable public var isEmpty: Bool { count == 0 }
    @inlinable public var escape: Escape { Escape(rawValue: bits >> 30)! }
  }

  /// How the bytes of a slice encode its text.
  public enum Escape: UInt32, Sendable {
    /// The bytes are the text in UTF-8.
    case none
    /// JSON string escapes (RFC 8259, section 7).
    case json
    /// Escapes of IRCv3 tag values: `\s` space, `\:` semicolon, `\\`, `\r`, `\n`.
    case ircTag
    /// The inside of a JSON array of strings, without brackets. The text is these strings joined by
    /// commas.
    case jsonStrings
  }
}
