import Glibc
import JSON
import LiveEvents
import SystemSupport

/// The checksums that link the lines of a recording or of the log.
///
/// The last two members of each line are `n`, its number, and `crc`. The latter is the CRC-32C, in
/// eight hexadecimal digits, of the line and all previous lines of the segment without their `crc`
/// members. The header of a segment names the last checksum of the previous segment.
///
/// A valid line therefore proves that all lines before it are present and unchanged.
struct LineChain: Equatable {
  /// The number of the last line; 0 before the first.
  var number = 0
  /// The checksum of the last line.
  var checksum: UInt32 = 0

  private static let numberKey: StaticString = #","n":"#
  private static let checksumKey: StaticString = #","crc":""#
  private static let end: StaticString = "\"}\n"
  /// The number of bytes at the end of a line that its checksum does not cover: the `crc` member
  /// and the closing brace.
  private static let tail = checksumKey.utf8CodeUnitCount + 8 + 2

  /// The chain that the first line of the next segment continues.
  var nextSegment: LineChain { LineChain(number: number) }

  /// Whether a segment whose header names `previous` follows a segment with this end.
  static func leads(_ end: LineChain?, to previous: String?) -> Bool { end?.text == previous }

  /// The checksum as text.
  var text: String {
    withUnsafeBytes(of: Self.digits(of: checksum)) { String(decoding: $0, as: UTF8.self) }
  }

  /// Returns eight hexadecimal digits in memory order, computed in parallel.
  private static func digits(of checksum: UInt32) -> UInt64 {
    var nibbles = UInt64(checksum)
    nibbles = (nibbles << 16 | nibbles) & 0x0000_FFFF_0000_FFFF
    nibbles = (nibbles << 8 | nibbles) & 0x00FF_00FF_00FF_00FF
    nibbles = (nibbles << 4 | nibbles) & 0x0F0F_0F0F_0F0F_0F0F
    let letters = (nibbles + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
    let distance = UInt64(UInt8(ascii: "a") - 10 - UInt8(ascii: "0"))
    return (nibbles + 0x3030_3030_3030_3030 + letters * distance).bigEndian
  }

  // MARK: Writing

  /// Completes the line that begins at `start` and has no closing brace.
  mutating func close(_ bytes: inout [UInt8], from start: Int) {
    number += 1
    bytes.append(Self.numberKey)
    bytes.append(decimal: Int64(number))
    checksum = bytes.withUnsafeBufferPointer {
      CRC32C.extend(checksum, UnsafeBufferPointer(rebasing: $0[start...]))
    }
    bytes.append(Self.checksumKey)
    withUnsafeBytes(of: Self.digits(of: checksum)) { bytes.append(contentsOf: $0) }
    bytes.append(Self.end)
  }

  // MARK: Reading

  /// Whether a line, without its line ending, has a checksum, which may be wrong.
  static func isChained(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
    guard line.count > tail else { return false }
    let end = UnsafeBufferPointer(rebasing: line[(line.count - tail)...])
    return end.begins(with: checksumKey) && end[tail - 2] == UInt8(ascii: "\"")
      && end[tail - 1] == UInt8(ascii: "}")
  }

  /// Advances the chain by a line, given without its line ending.
  ///
  /// - Parameter isFirst: whether it is the first line of a segment, which may have any number.
  /// - Returns: the line without its last two members and its closing brace; `nil` if it does not
  ///   continue the chain, which is then unchanged.
  mutating func advance(
    _ line: UnsafeBufferPointer<UInt8>, isFirst: Bool
  ) -> UnsafeBufferPointer<UInt8>? {
    guard Self.isChained(line) else { return nil }
    let covered = UnsafeBufferPointer(rebasing: line[..<(line.count - Self.tail)])
    let computed = CRC32C.extend(checksum, covered)
    let stated = UnsafeRawBufferPointer(line).loadUnaligned(
      fromByteOffset: covered.count + Self.checksumKey.utf8CodeUnitCount, as: UInt64.self)
    guard stated == Self.digits(of: computed),
      let (next, start) = covered.number(atEndAfter: Self.numberKey),
      isFirst ? next > 0 : next == number + 1, EventLimits.total.contains(Int(next))
    else { return nil }
    self = LineChain(number: Int(next), checksum: computed)
    return UnsafeBufferPointer(rebasing: covered[..<start])
  }
}

extension UnsafeBufferPointer<UInt8> {
  func begins(with text: StaticString) -> Bool {
    guard let start = baseAddress, count >= text.utf8CodeUnitCount else { return false }
    return memcmp(start, text.utf8Start, text.utf8CodeUnitCount) == 0
  }

  func ends(with text: StaticString) -> Bool {
    let start = count - text.utf8CodeUnitCount
    guard start >= 0 else { return false }
    return UnsafeBufferPointer(rebasing: self[start...]).begins(with: text)
  }

  /// Returns the number at the end, if `key` precedes it, and the offset of `key`.
  func number(atEndAfter key: StaticString) -> (number: Int64, start: Int)? {
    var start = count
    while start > 0, self[start - 1] &- UInt8(ascii: "0") < 10 { start -= 1 }
    guard UnsafeBufferPointer(rebasing: self[..<start]).ends(with: key),
      let number = self[start...].number
    else { return nil }
    return (number, start - key.utf8CodeUnitCount)
  }
}

extension Slice<UnsafeBufferPointer<UInt8>> {
  /// The value of decimal digits; `nil` if there are other characters, or the value is too large.
  var number: Int64? {
    guard (1...19).contains(count) else { return nil }
    var value: Int64 = 0
    for digit in self {
      guard digit &- UInt8(ascii: "0") < 10 else { return nil }
      let (tens, tooMany) = value.multipliedReportingOverflow(by: 10)
      let (sum, tooLarge) = tens.addingReportingOverflow(Int64(digit &- UInt8(ascii: "0")))
      if tooMany || tooLarge { return nil }
      value = sum
    }
    return value
  }
}

extension [UInt8] {
  mutating func append(_ text: StaticString) {
    append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }
}
