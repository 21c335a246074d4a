import SourceTestSupport
import Testing

struct VirtualTwitchTests {
  @Test func `in 50 random schedules, every chat message is forwarded once and every gap reported`()
  {
    let (violations, counts) = VirtualTwitch.run(seeds: 1...50)
    #expect(violations.isEmpty)
    // The schedules contain enough of each fault and its effects.
    let least = [
      "messages": 100_000, "lost": 1_000, "gaps": 100, "duplicates": 1_000, "ghosts": 20,
    ]
    for (name, count) in least { #expect(counts[name, default: 0] > count, "\(name)") }
    for fault in VirtualTwitch.Fault.allCases {
      #expect(counts["\(fault)", default: 0] > 20, "\(fault)")
    }
  }
}
