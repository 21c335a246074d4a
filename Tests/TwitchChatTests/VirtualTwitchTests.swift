import Testing
import TwitchChat

struct VirtualTwitchTests {
  @Test func `every message is forwarded once, and every gap is told, over 50 schedules`() {
    var total = VirtualTwitch.Counts()
    for seed in UInt64(1)...50 {
      var twitch = VirtualTwitch(seed: seed)
      twitch.run()
      #expect(twitch.violations.isEmpty, "seed \(seed): \(twitch.violations.prefix(5))")
      total.add(twitch.counts)
    }
    // The schedules have what they are for.
    #expect(total.messages > 100_000)
    #expect(total.lost > 1_000)
    #expect(total.gaps > 100)
    #expect(total.duplicates > 1_000)
    #expect(total.ghosts > 20)
    for fault in VirtualTwitch.Fault.allCases {
      #expect(total.faults[fault, default: 0] > 20, "\(fault)")
    }
  }
}

extension VirtualTwitch.Counts {
  mutating func add(_ other: Self) {
    messages += other.messages
    forwarded += other.forwarded
    lost += other.lost
    gaps += other.gaps
    duplicates += other.duplicates
    connections += other.connections
    ghosts += other.ghosts
    faults.merge(other.faults, uniquingKeysWith: +)
  }
}
