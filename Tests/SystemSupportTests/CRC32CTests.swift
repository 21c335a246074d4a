import SystemSupport
import Testing

@Suite struct CRC32CTests {
  private func checksum(_ bytes: [UInt8], after checksum: UInt32 = 0) -> UInt32 {
    bytes.withUnsafeBufferPointer { CRC32C.extend(checksum, $0) }
  }

  /// RFC 3720, B.4.
  @Test(
    arguments: [
      ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
      ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
      (Array(0..<32), 0x46DD_794E), (Array((0..<32).reversed()), 0x113F_DB5C),
      (Array("123456789".utf8), 0xE306_9283), ([], 0),
    ] as [([UInt8], UInt32)])
  func `the computed checksums equal the examples of RFC 3720`(bytes: [UInt8], expected: UInt32) {
    #expect(checksum(bytes) == expected)
    #expect(bytes.withUnsafeBufferPointer { CRC32C.extendByTable(0, $0) } == expected)
  }

  @Test
  func `a checksum computed in parts equals the checksum of the whole on any processor`() {
    let bytes = (0..<200).map { UInt8(truncatingIfNeeded: $0 &* 37) }
    for cut in 0...bytes.count {
      let parts = checksum(Array(bytes[cut...]), after: checksum(Array(bytes[..<cut])))
      #expect(parts == checksum(bytes))
      let first = Array(bytes[..<cut])
      #expect(first.withUnsafeBufferPointer { CRC32C.extendByTable(0, $0) } == checksum(first))
    }
  }
}
