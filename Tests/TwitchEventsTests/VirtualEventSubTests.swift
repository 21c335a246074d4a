import SourceTestSupport
import Testing

struct VirtualEventSubTests {
  /// The acts in these schedules end exactly once, and no act is carried out twice.
  @Test func `in 50 random schedules, every event is forwarded once and every gap reported`() {
    let (violations, counts) = VirtualEventSub.run(seeds: 1...50)
    #expect(violations.isEmpty)
    // The schedules contain enough of each fault and its effects.
    let least = [
      "messages": 100_000, "lost": 1_000, "gaps": 100, "duplicates": 1_000, "conflicts": 100,
      "renewals": 20, "viewers": 500, "confirmed": 10_000, "refused": 500, "unknown": 500,
      "withdrawn": 200,
    ]
    for (name, count) in least { #expect(counts[name, default: 0] > count, "\(name)") }
    for fault in VirtualEventSub.Fault.allCases {
      #expect(counts["\(fault)", default: 0] > 20, "\(fault)")
    }
  }
}
