import HostScreen
import LivehostDaemon
import RateLimiting
import Testing
import WireFormats

@Suite("The time of a room")
struct RoomClockTests {
  private let millisecond: Int64 = 1_000_000

  @Test("it begins at 0 and follows the machine")
  func machine() {
    var clock = RoomClock(machine: 5_000)
    #expect(clock.now == .origin)
    clock.advance(to: clock.time(machine: 6_000))
    #expect(clock.now.nanoseconds == 1_000)
    #expect(clock.machineTime(of: Instant(nanoseconds: 2_500)) == 7_500)
  }

  @Test("it never goes back, neither for a late event nor at a change of source")
  func monotonic() {
    var clock = RoomClock(machine: 0)
    clock.advance(to: clock.time(machine: 100 * millisecond))
    clock.follow(.event, machine: 100 * millisecond)
    #expect(clock.time(of: 1_568_505_600_000) == clock.now, "the first event is now")
    clock.advance(to: clock.time(of: 1_568_505_600_500))
    #expect(clock.now.nanoseconds == 600 * millisecond)
    #expect(clock.time(of: 1_568_505_600_100) == clock.now, "a late event is now")
    clock.follow(.arrival, machine: 110 * millisecond)
    #expect(clock.time(machine: 110 * millisecond).nanoseconds == 600 * millisecond)
    #expect(clock.time(machine: 120 * millisecond).nanoseconds == 610 * millisecond)
  }

  @Test("while it follows events, the machine's time does not move it")
  func eventsOnly() {
    var clock = RoomClock(machine: 0)
    clock.follow(.event, machine: 0)
    #expect(clock.time(machine: 1_000_000_000) == clock.now)
    #expect(clock.machineTime(of: Instant(nanoseconds: 5)) == nil)
  }

  @Test("frames stand on a grid")
  func grid() {
    let grid = FrameGrid(framesPerSecond: 50)
    #expect(grid.interval == 20 * millisecond)
    #expect(
      grid.frame(atOrAfter: Instant(nanoseconds: 20 * millisecond)).nanoseconds == 20 * millisecond)
    #expect(
      grid.frame(after: Instant(nanoseconds: 20 * millisecond)).nanoseconds == 40 * millisecond)
    #expect(grid.frame(atOrAfter: Instant(nanoseconds: 1)).nanoseconds == 20 * millisecond)
  }
}
