import CAllocationCounter
import HostScreen
import LiveEvents
import RateLimiting
import Testing
import Throttling

/// The allocations for events that a throttle holds.
@Suite(.enabled(if: allocated_bytes() > 0, "the allocator of this build cannot be asked"))
struct EventCostTests {
  private static let twitch = Origin(platform: "twitch", source: "main")

  @Test(arguments: [Origin.none, twitch])
  func `an event of a room's only source that a throttle holds allocates nothing`(
    origin: Origin
  ) {
    let screen = HostScreen.still()
    func receive(_ payload: LiveEvent.Payload) {
      screen.receive(
        LiveEvent(timestamp: 1, payload: payload, origin: origin), at: .origin + .seconds(1))
    }
    // The first events pass immediately, and create the memory that later events reuse.
    receive(.header(.viewers(count: 1)))
    receive(.liveRoomStats(StreamStatistics(bitrateKbps: 1)))
    receive(.header(.viewers(count: 2)))
    screen.reduce()
    let before = allocation_count()
    for count in 0..<1_000 {
      receive(.header(.viewers(count: count)))
      receive(.liveRoomStats(StreamStatistics(bitrateKbps: Double(count))))
    }
    #expect(allocation_count() == before)
    #expect(screen.pending(of: .viewers) == 1 && screen.pending(of: .statistics) == 1_001)
  }
}
