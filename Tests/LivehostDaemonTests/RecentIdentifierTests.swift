import JSON
import LiveEvents
import RateLimiting
import Rooms
import TestSupport
import Testing

@Suite struct RecentIdentifierTests {
  /// `#expect` cannot call mutating methods, so this helper does.
  private final class Memory {
    var identifiers = RecentIdentifiers()
    var count: Int { identifiers.count }
    func insert(_ hash: UInt64, at now: Instant) -> Bool { identifiers.insert(hash, at: now) }
  }

  private func second(_ count: Int64) -> Instant { .origin + .seconds(count) }

  @Test func `an identifier is accepted only once`() {
    let identifiers = Memory()
    #expect(identifiers.insert(1, at: .origin))
    #expect(!identifiers.insert(1, at: second(900)))
    #expect(identifiers.insert(2, at: second(900)))
    #expect(identifiers.count == 2)
  }

  @Test func `an identifier is forgotten after 15 minutes`() {
    let identifiers = Memory()
    #expect(identifiers.insert(1, at: second(0)))
    #expect(identifiers.insert(2, at: second(1)))
    #expect(identifiers.insert(1, at: second(900) + .milliseconds(1)))
    #expect(!identifiers.insert(2, at: second(900) + .milliseconds(1)))
    #expect(identifiers.count == 2)
  }

  @Test func `the newest 4,096 identifiers are remembered`() {
    let identifiers = Memory()
    for number in 0...UInt64(RecentIdentifiers.capacity) {
      #expect(identifiers.insert(number, at: .origin))
    }
    #expect(identifiers.count == RecentIdentifiers.capacity)
    for number in 1...UInt64(RecentIdentifiers.capacity) {
      #expect(!identifiers.insert(number, at: .origin))
    }
    #expect(identifiers.insert(0, at: .origin))
  }

  @Test(arguments: 1...20)
  func `the compact set of identifiers behaves like a plain list, also after decoding`(
    seed: UInt64
  ) throws {
    var random = SplitMix64(seed: seed)
    var identifiers = RecentIdentifiers()
    var list: [(hash: UInt64, milliseconds: Int64)] = []
    var now: Int64 = 0
    // Only a few distinct identifiers, many of which hash to the same slot.
    let spread = UInt64.random(in: 1...3, using: &random)
    let range = UInt64.random(in: 50...12_000, using: &random)
    for step in 0..<20_000 {
      now += Int64.random(in: 0...Int64.random(in: 1...400, using: &random), using: &random)
      let hash = UInt64.random(in: 0...range, using: &random) << (spread * 4)
      list.removeAll { $0.milliseconds < now - 900_000 }
      let isNew = !list.contains { $0.hash == hash }
      let isTaken = identifiers.insert(hash, at: .origin + .milliseconds(now))
      try #require(isTaken == isNew, "step \(step)")
      if isNew { list.append((hash, now)) }
      if list.count > RecentIdentifiers.capacity { list.removeFirst() }
      if step % 1_000 == 0 {
        let text = try JSONValue(encoding: identifiers)
        let copy: RecentIdentifiers = try text.decode()
        #expect(copy == identifiers)
        identifiers = copy
      }
    }
    #expect(identifiers.count == list.count)
  }

  @Test func `malformed text is read up to the first error`() throws {
    let text = #"{"since":5,"hashes":"zz00000000000001ffffffé123"}"#
    let identifiers: RecentIdentifiers = try JSONValue(parsing: text).decode()
    #expect(identifiers.count == 1)
  }

  @Test func `a time that could overflow, and more identifiers than are kept, are rejected`() {
    let entry = "0000000000000001ffffff"
    let long = String(repeating: entry, count: RecentIdentifiers.capacity + 1)
    for text in [
      #"{"since":9223372036854775807,"hashes":"\#(entry)"}"#, #"{"since":5,"hashes":"\#(long)"}"#,
    ] {
      #expect(throws: (any Error).self) {
        let _: RecentIdentifiers = try JSONValue(parsing: text).decode()
      }
    }
  }

  @Test func `texts with the same bytes have the same hash in every encoding`() {
    let written = ByteSlab(Array(#"caf\u00e9/0123456789"#.utf8))
    let slice = ByteSlab.Slice(offset: 0, count: written.count, escape: .json)
    #expect(Text(slab: written, slice: slice).stableHash == Text("café/0123456789").stableHash)
    // A reader sees the same text, but the bytes differ.
    #expect(Text("cafe\u{301}/0123456789").stableHash != Text("café/0123456789").stableHash)
    // Snapshots contain the hash, so its value must never change.
    #expect(Text("b34ccfc7-4977-403a-8a94-33c6bac34fb8").stableHash == 6_792_744_049_324_417_543)
    var hashes: Set<UInt64> = []
    for number in 0..<100_000 { hashes.insert(Text("m\(number)").stableHash) }
    #expect(hashes.count == 100_000)
  }
}
