/// Reads decimal digits eight at a time. Reading the digits of a timestamp one by one would cost as
/// much as finding all keys of its line.
enum Digits {
  /// Returns whether `count` bytes are an integer of 8 to 16 digits that does not begin with `-` or
  /// `0`. Returns false for all other integers.
  @inline(__always)
  static func areLongInteger(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Bool {
    guard count >= 8, count <= 16, bytes[0] != UInt8(ascii: "0") else { return false }
    return areDigits(word(bytes)) && areDigits(word(bytes + (count &- 8)))
  }

  @inline(__always)
  static func value(ofEightAt bytes: UnsafePointer<UInt8>) -> Int {
    // Combines digits into pairs, pairs into fours, and fours into eights. The first digit is in
    // the lowest byte.
    var word = word(bytes) & 0x0F0F_0F0F_0F0F_0F0F
    word = (word &* (10 << 8 + 1)) >> 8 & 0x00FF_00FF_00FF_00FF
    word = (word &* (100 << 16 + 1)) >> 16 & 0x0000_FFFF_0000_FFFF
    word = (word &* (10_000 << 32 + 1)) >> 32
    return Int(truncatingIfNeeded: word)
  }

  /// Returns whether each byte is between 0x30 and 0x39: its high half is 3, and remains 3 after
  /// adding 6.
  @inline(__always)
  private static func areDigits(_ word: UInt64) -> Bool {
    let high: UInt64 = 0xF0F0_F0F0_F0F0_F0F0
    let threes: UInt64 = 0x3030_3030_3030_3030
    return word & high == threes && (word &+ 0x0606_0606_0606_0606) & high == threes
  }

  @inline(__always)
  private static func word(_ bytes: UnsafePointer<UInt8>) -> UInt64 {
    UInt64(littleEndian: UnsafeRawPointer(bytes).loadUnaligned(as: UInt64.self))
  }
}
