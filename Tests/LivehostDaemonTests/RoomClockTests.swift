import HostScreen
import RateLimiting
import Rooms
import Testing
import ViewGraph
import WireFormats

@Suite struct RoomClockTests {
  private let millisecond: Int64 = 1_000_000

  @Test func `a room's clock begins at 0 and follows the machine's clock`() {
    var clock = RoomClock(machine: 5_000)
    #expect(clock.now == .origin)
    clock.advance(to: clock.time(machine: 6_000))
    #expect(clock.now.nanoseconds == 1_000)
    #expect(clock.machineTime(of: Instant(nanoseconds: 2_500)) == 7_500)
  }

  @Test
  func `a room's clock never goes back, neither for a late event nor for another source of time`() {
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

  @Test func `an absurd timestamp does not move a room's clock, and later events move it normally`()
  {
    for mistake: Int64 in [
      9_223_372_036_855, 253_402_300_799_999, 0, .max, .min, 1_568_600_000_000,
    ] {
      var clock = RoomClock(machine: 0)
      clock.advance(to: clock.time(machine: 5 * millisecond))
      clock.follow(.event, machine: 5 * millisecond)
      clock.advance(to: clock.time(of: 1_568_505_600_000))
      #expect(clock.time(of: mistake).nanoseconds == 5 * millisecond, "\(mistake)")
      #expect(clock.time(of: 1_568_505_600_100).nanoseconds == 5 * millisecond)
      #expect(clock.time(of: 1_568_505_600_300).nanoseconds == 205 * millisecond)
    }
  }

  @Test
  func `events advance a room's clock by at most 146 years, so frame numbers do not overflow`() {
    var clock = RoomClock(machine: 0)
    clock.follow(.event, machine: 0)
    // One day at a time, repeatedly, starting in 1970.
    var years = 0
    while clock.now < RoomClock.farthest, years < 200 {
      for day: Int64 in 0..<366 { clock.advance(to: clock.time(of: day * 86_400_000)) }
      years += 1
    }
    #expect(clock.now == RoomClock.farthest)
    #expect(FrameGrid(framesPerSecond: 60).frame(after: clock.now) > clock.now)
    clock.follow(.arrival, machine: 7)
    #expect(clock.time(machine: 8) > clock.now)
  }

  @Test func `while a room's clock follows events, the machine's clock does not move it`() {
    var clock = RoomClock(machine: 0)
    clock.follow(.event, machine: 0)
    #expect(clock.time(machine: 1_000_000_000) == clock.now)
    #expect(clock.machineTime(of: Instant(nanoseconds: 5)) == nil)
  }

  @Test func `frame times are multiples of the frame interval`() {
    let grid = FrameGrid(framesPerSecond: 50)
    #expect(grid.interval == 20 * millisecond)
    #expect(
      grid.frame(atOrAfter: Instant(nanoseconds: 20 * millisecond)).nanoseconds == 20 * millisecond)
    #expect(
      grid.frame(after: Instant(nanoseconds: 20 * millisecond)).nanoseconds == 40 * millisecond)
    #expect(grid.frame(atOrAfter: Instant(nanoseconds: 1)).nanoseconds == 20 * millisecond)
  }
}
