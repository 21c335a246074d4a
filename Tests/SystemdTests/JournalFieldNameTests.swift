import Systemd
import Testing

@Suite struct JournalFieldNameTests {
  @Test(arguments: [
    ("room", "LIVEHOST_ROOM"),
    ("durationUsec", "LIVEHOST_DURATION_USEC"),
    ("duration-usec", "LIVEHOST_DURATION_USEC"),
    ("duration_usec", "LIVEHOST_DURATION_USEC"),
    ("HTTPStatus", "LIVEHOST_HTTP_STATUS"),
    ("peerUID", "LIVEHOST_PEER_UID"),
    ("p99Latency", "LIVEHOST_P99_LATENCY"),
    ("2nd", "LIVEHOST_2ND"),
    ("_x_", "LIVEHOST_X"),
    ("a..b//c", "LIVEHOST_A_B_C"),
    ("LIVEHOST_ROOM", "LIVEHOST_ROOM"),
    ("größe", "LIVEHOST_GR_E"),
    ("", "LIVEHOST_FIELD"),
    ("=\n", "LIVEHOST_FIELD"),
  ])
  func `each metadata key is converted to a valid journal field name`(key: String, name: String) {
    #expect(JournalFieldName.make(key) == name)
  }

  @Test func `every converted field name is accepted by journald`() {
    var generator = SplitMix(state: 20)
    let names = (0..<5_000).map { _ in
      let length = Int.random(in: 0...100, using: &generator)
      let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
      return JournalFieldName.make(String(decoding: bytes, as: UTF8.self))
    }
    let illegal = names.filter { $0.wholeMatch(of: /LIVEHOST_[A-Z0-9_]{1,55}/) == nil }
    #expect(illegal == [])
    #expect(names.filter { JournalFieldName.make($0) != $0 } == [])
  }
}

/// A seeded generator, so that a failure is reproducible.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}
