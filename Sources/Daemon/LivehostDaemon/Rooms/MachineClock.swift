import HostScreen
import NIOCore
import ViewGraph

/// The machine's monotonic clock, for measuring evaluations.
final class MachineClock: ScreenClock {
  var now: UInt64 { NIODeadline.now().uptimeNanoseconds }
}
