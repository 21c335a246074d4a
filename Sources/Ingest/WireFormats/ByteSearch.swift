import Glibc
import LiveEvents

/// Searches over the bytes of a line.
enum ByteSearch {
  /// Whether `byte` occurs. Vectorised by the C library.
  @inline(__always)
  static func contains(_ byte: UInt8, in bytes: UnsafePointer<UInt8>, count: Int) -> Bool {
    memchr(bytes, Int32(byte), count) != nil
  }

  /// The offset of the first byte from `start` on that is `a`, `b` or `c`; `limit` if there is
  /// none.
  ///
  /// Compares eight bytes at a time, because a call of `memchr` costs more than the few bytes
  /// between two separators. Reads up to ``ByteSlab/padding`` bytes past `limit`.
  @inline(__always)
  static func first(
    _ a: UInt8, _ b: UInt8, _ c: UInt8, in bytes: UnsafePointer<UInt8>,
    from start: Int, to limit: Int
  ) -> Int {
    var i = start
    while i < limit {
      let word = UInt64(littleEndian: UnsafeRawPointer(bytes + i).loadUnaligned(as: UInt64.self))
      // The lowest mark is exact; those above it may be due to a borrow.
      let marks =
        zeroBytes(word ^ repeated(a)) | zeroBytes(word ^ repeated(b))
        | zeroBytes(word ^ repeated(c))
      if marks != 0 { return min(i &+ marks.trailingZeroBitCount &>> 3, limit) }
      i &+= 8
    }
    return limit
  }

  @inline(__always)
  private static func repeated(_ byte: UInt8) -> UInt64 { 0x0101_0101_0101_0101 &* UInt64(byte) }

  /// Marks the high bit of each byte that is zero.
  @inline(__always)
  private static func zeroBytes(_ word: UInt64) -> UInt64 {
    (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
  }
}
