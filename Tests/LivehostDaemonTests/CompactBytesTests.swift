import Rooms
import Testing

@Suite struct CompactBytesTests {
  @Test func `the stored pieces equal the added bytes, whatever was removed meanwhile`() {
    var compact = CompactBytes(chunkBytes: 1_000)
    var known: [CompactBytes.Identifier: [UInt8]] = [:]
    var state: UInt64 = 7
    func next(_ limit: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % limit
    }
    var live = 0
    for round in 0..<20_000 {
      // The buffer grows, shrinks and becomes empty.
      if next(10) < (round / 4_000 % 2 == 0 ? 7 : 3) || known.isEmpty {
        // Some pieces are larger than a chunk.
        let bytes = [UInt8](
          repeating: UInt8(truncatingIfNeeded: round), count: next(40) == 0 ? 2_500 : next(90))
        let piece = compact.add(bytes)
        #expect(known[piece] == nil)
        known[piece] = bytes
        live += bytes.count
      } else if let piece = known.keys.sorted().dropFirst(next(known.count)).first {
        #expect(compact.bytes(of: piece) == known[piece])
        live -= known.removeValue(forKey: piece)?.count ?? 0
        compact.remove(piece)
        #expect(compact.bytes(of: piece).isEmpty)
      }
      #expect(compact.heldBytes <= 3 * live + 2_000)
    }
    for (piece, bytes) in known {
      #expect(compact.bytes(of: piece) == bytes)
      compact.remove(piece)
    }
    #expect(compact.heldBytes <= 2_000)
  }
}
