import Dispatch
import Glibc
import NIOCore

/// A lane that hangs on demand, for tests of the watchdog and of whoever runs this daemon.
///
/// Off unless the environment says `LIVEHOST_BLOCK_LANE_MS`: then `SIGUSR2` holds the first lane for so
/// many milliseconds.
enum FaultInjection {
  /// The running injection; cancel it at the end. `nil` if the environment does not ask for it.
  static func fromEnvironment(lanes: [HostLane]) -> (any DispatchSourceSignal)? {
    guard let text = getenv("LIVEHOST_BLOCK_LANE_MS").map({ String(cString: $0) }),
      let milliseconds = UInt32(text), let lane = lanes.first
    else { return nil }
    signal(SIGUSR2, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: SIGUSR2, queue: .global())
    source.setEventHandler {
      lane.eventLoop.execute {
        var time = timespec(
          tv_sec: Int(milliseconds / 1000), tv_nsec: Int(milliseconds % 1000) * 1_000_000)
        var left = timespec()
        while nanosleep(&time, &left) != 0, errno == EINTR { time = left }
      }
    }
    source.resume()
    return source
  }
}
