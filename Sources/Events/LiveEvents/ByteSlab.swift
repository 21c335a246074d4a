/// A block of received bytes that the events decoded from it share.
///
/// Text inside an event is an offset and a length into its slab and becomes a `String` only when it
/// is read; most text of a busy stream is counted and recorded but never read. The bytes are
/// written once, before the slab is shared, and never change afterwards.
///
/// An event that is kept for long should own its text (``Text/owned()``): otherwise one message of
/// 40 bytes keeps a whole slab of about 64 KiB alive.
public final class ByteSlab: Sendable {
  /// How many bytes after ``count`` are readable. The JSON parser reads in blocks, up to this far
  /// past a line.
  public static let padding = 64

  /// Number of bytes that carry data.
  public let count: Int

  // Written only by `init`, freed only by `deinit`: reading it from any thread is safe.
  @usableFromInline
  nonisolated(unsafe) let base: UnsafeMutablePointer<UInt8>

  /// Makes a slab of at most `capacity` bytes, filled by `fill`, which returns how many it wrote.
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

  /// Makes a slab that holds a copy of `bytes`.
  public convenience init(_ bytes: some Collection<UInt8>) {
    self.init(capacity: bytes.count) { target in
      _ = target.initialize(fromContentsOf: bytes)
      return bytes.count
    }
  }

  deinit { base.deallocate() }

  /// Calls `body` with the bytes. The buffer must not escape.
  ///
  /// ``padding`` more bytes after its end may be read (their content is unspecified).
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
  /// A part of a slab: the location of some text, and how its bytes are escaped.
  public struct Slice: Sendable, Hashable {
    public var offset: UInt32
    /// Length in bytes in the low 30 bits, the escape in the high two.
    @usableFromInline var bits: UInt32

    @inlinable
    public init(offset: Int, count: Int, escape: Escape = .none) {
      precondition(count < 1 << 30)
      self.offset = UInt32(offset)
      self.bits = UInt32(count) | (escape.rawValue << 30)
    }

    /// The empty slice.
    @inlinable public static var empty: Slice { Slice(offset: 0, count: 0) }

    /// Length in bytes, including escapes.
    @inlinable public var count: Int { Int(bits & 0x3FFF_FFFF) }
    @inlinable public var isEmpty: Bool { count == 0 }
    @inlinable public var escape: Escape { Escape(rawValue: bits >> 30)! }
  }

  /// How the bytes of a slice encode its text.
  public enum Escape: UInt32, Sendable {
    /// They are the text, in UTF-8.
    case none
    /// JSON string escapes (RFC 8259, section 7).
    case json
    /// Escapes of IRCv3 tag values: `\s` space, `\:` semicolon, `\\`, `\r`, `\n`.
    case ircTag
    /// The inside of a JSON array of strings, brackets excluded; reads as its elements joined by
    /// commas.
    case jsonStrings
  }
}
