import Composable
package import LiveEvents
package import NIOCore

/// A lane for stores: runs their jobs and effects in order on the thread of a SwiftNIO event loop.
package struct EventLoopLane: Lane {
  private let eventLoop: any EventLoop
  package let taskExecutor: (any TaskExecutor)?
  private let meter: TurnMeter
  private let room: RoomName?

  package init(_ eventLoop: any EventLoop, meter: TurnMeter, room: RoomName? = nil) {
    self.eventLoop = eventLoop
    self.meter = meter
    self.room = room
    taskExecutor = EventLoopTaskExecutor(
      eventLoop, meter: meter, label: LaneActivity.Label(room: room, work: .effect("(unnamed)")))
  }

  package func execute(_ job: @escaping @Sendable () -> Void) {
    eventLoop.execute { meter.measure(job) }
  }

  package func taskExecutor(named effect: String) -> (any TaskExecutor)? {
    EventLoopTaskExecutor(
      eventLoop, meter: meter, label: LaneActivity.Label(room: room, work: .effect(effect)))
  }
}

/// Runs tasks on an event loop; each job is a turn of the lane.
///
/// Each effect has its own executor, which knows the effect's name. The hang monitor can therefore
/// name the effect even after it was suspended and resumed.
final class EventLoopTaskExecutor: TaskExecutor {
  private let eventLoop: any EventLoop
  private let meter: TurnMeter
  private let label: LaneActivity.Label

  init(_ eventLoop: any EventLoop, meter: TurnMeter, label: LaneActivity.Label) {
    self.eventLoop = eventLoop
    self.meter = meter
    self.label = label
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    eventLoop.execute { [self] in
      meter.measure {
        meter.activity.begin(label.work, in: label.room)
        job.runSynchronously(on: asUnownedTaskExecutor())
      }
    }
  }
}
