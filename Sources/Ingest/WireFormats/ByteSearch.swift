import Glibc
import LiveEvents

enum ByteSearch {
  /// Returns whether `byte` occurs in the first `count` bytes. The C library vectorises the search.
  @inline(__always)
  static func contains(_ byte: UInt8, in bytes: UnsafePointer<UInt8>, count: Int) -> Bool {
    memchr(bytes, Int32(byte), count) != nil
  }

  /// Returns the offset of the first byte at or after `start` that is `a`, `b` or `c`, or `limit`.
  ///
  /// Compares eight bytes at a time, because a call of `memchr` costs more than scanning the few
  /// bytes between two separators. Reads up to ``ByteSlab/padding`` bytes past `limit`.
  @inline(__always)
  static func first(
    _ a: UInt8, _ b: UInt8, _ c: UInt8, in bytes: UnsafePointer<UInt8>,
    from start: Int, to limit: Int
  ) -> Int {
    var position = start
    while position < limit {
      let word = UInt64(
        littleEndian: UnsafeRawPointer(bytes + position).loadUnaligned(as: UInt64.self))
      // Only the lowest mark is reliable: a borrow in the subtraction may set higher marks.
      let marks =
        zeroBytes(word ^ repeated(a)) | zeroBytes(word ^ repeated(b))
        | zeroBytes(word ^ repeated(c))
      if marks != 0 { return min(position &+ marks.trailingZeroBitCount &>> 3, limit) }
      position &+= 8
    }
    return limit
  }

  @inline(__always)
  private static func repeated(_ byte: UInt8) -> UInt64 { 0x0101_0101_0101_0101 &* UInt64(byte) }

  /// Returns a word in which the high bit of each byte is set if that byte of `word` is zero.
  @inline(__always)
  private static func zeroBytes(_ word: UInt64) -> UInt64 {
    (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
  }
}
