import CPlatform

/// CRC-32C (Castagnoli), which processors compute by an instruction of its own.
package enum CRC32C {
  private static let isInHardware = livehost_has_crc32c() != 0

  /// Continues `checksum`, that of all bytes so far (0 for none), with `bytes`.
  ///
  /// - Complexity: O(bytes): several gigabytes a second, without the instruction some hundred megabytes.
  package static func extend(
    _ checksum: UInt32, _ bytes: UnsafeBufferPointer<UInt8>
  ) -> UInt32 {
    guard let start = bytes.baseAddress else { return checksum }
    return isInHardware
      ? ~livehost_crc32c(~checksum, start, bytes.count) : extendByTable(checksum, bytes)
  }

  /// The same on any processor.
  package static func extendByTable(
    _ checksum: UInt32, _ bytes: UnsafeBufferPointer<UInt8>
  ) -> UInt32 {
    var value = ~checksum
    for byte in bytes { value = value >> 8 ^ table[Int(UInt8(truncatingIfNeeded: value) ^ byte)] }
    return ~value
  }

  /// The remainder of each byte by the polynomial 0x1EDC6F41, bits reversed.
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { value, _ in value >> 1 ^ (value & 1 == 1 ? 0x82F6_3B78 : 0) }
  }
}
