import CZlib

/// CRC-32 of a growing run of bytes.
struct Checksum {
  private var value: UInt = 0

  mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) {
    value = crc32_z(value, bytes.baseAddress, bytes.count)
  }

  /// Eight hexadecimal digits.
  var text: String { padded(value, 8, radix: 16) }
}
