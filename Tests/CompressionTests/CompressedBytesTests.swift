import Compression
import Testing

@Suite struct CompressedBytesTests {
  @Test(arguments: [0, 1, 100, 100_000]) func `compressed bytes are restored unchanged`(count: Int)
  {
    var state: UInt64 = 1
    let noise = (0..<count).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 56)
    }
    for bytes in [noise, [UInt8](repeating: 7, count: count)] {
      let compressed = CompressedBytes(bytes)
      #expect(compressed.count == count)
      #expect(compressed.bytes() == bytes)
    }
  }

  @Test func `repetitive bytes compress well`() {
    let compressed = CompressedBytes((0..<10_000).map { UInt8($0 % 10) })
    #expect(compressed.storedCount < 500)
  }

  @Test func `bytes that also occur in the dictionary need almost no space`() {
    let example = (0..<40_000).map { UInt8(truncatingIfNeeded: $0 * $0 / 7) }
    let bytes = example.suffix(5_000) + [1, 2, 3] + example.suffix(9_000).prefix(2_000)
    let compressed = CompressedBytes(Array(bytes), like: example)
    #expect(compressed.storedCount * 10 < CompressedBytes(Array(bytes)).storedCount)
    #expect(compressed.bytes(like: example) == Array(bytes))
  }
}
