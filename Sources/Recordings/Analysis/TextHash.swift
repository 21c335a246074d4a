/// Hashes of bytes that are equal in every process.
package enum TextHash {
  /// Returns the FNV-1a hash of bytes, mixed so that all of its bits can be used.
  package static func of(_ bytes: some Sequence<UInt8>) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    return mix(hash)
  }

  /// Applies the finaliser of SplitMix64, with which each input bit affects each output bit.
  @inline(__always)
  static func mix(_ value: UInt64) -> UInt64 {
    var value = value
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
