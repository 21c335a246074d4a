import Testing
import TwitchEvents

struct VirtualEventSubTests {
  @Test func `every event is forwarded once, and every gap is told, over 50 schedules`() {
    var total = VirtualEventSub.Counts()
    for seed in UInt64(1)...50 {
      var twitch = VirtualEventSub(seed: seed)
      twitch.run()
      #expect(twitch.violations.isEmpty, "seed \(seed): \(twitch.violations.prefix(5))")
      total.add(twitch.counts)
    }
    // The schedules have what they are for.
    #expect(total.messages > 100_000)
    #expect(total.lost > 1_000)
    #expect(total.gaps > 100)
    #expect(total.duplicates > 1_000)
    #expect(total.conflicts > 100)
    #expect(total.renewals > 20)
    #expect(total.viewers > 500)
    for fault in VirtualEventSub.Fault.allCases {
      #expect(total.faults[fault, default: 0] > 20, "\(fault)")
    }
  }
}

extension VirtualEventSub.Counts {
  mutating func add(_ other: Self) {
    messages += other.messages
    forwarded += other.forwarded
    lost += other.lost
    gaps += other.gaps
    duplicates += other.duplicates
    conflicts += other.conflicts
    renewals += other.renewals
    viewers += other.viewers
    faults.merge(other.faults, uniquingKeysWith: +)
  }
}
