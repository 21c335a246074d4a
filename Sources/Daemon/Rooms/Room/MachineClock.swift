import HostScreen
import LiveEvents
import NIOCore
import ViewGraph

/// The machine's monotonic clock, which measures evaluations and reports the evaluated view to the
/// hang monitor.
final class MachineClock: EvaluationClock {
  private let activity: LaneActivity
  private let room: RoomName
  private let faults: FaultInjection

  init(_ activity: LaneActivity, room: RoomName, faults: FaultInjection) {
    self.activity = activity
    self.room = room
    self.faults = faults
  }

  var now: UInt64 { NIODeadline.now().uptimeNanoseconds }

  func willEvaluate(_ view: String) { activity.begin(.view(view), in: room) }

  func didEvaluate(_ view: String, _ output: ViewNode, isFirst: Bool) {
    // The injected delay counts as part of the view's measured time.
    if faults.holdsViews { faults.hold(.view(view)) }
  }
}
