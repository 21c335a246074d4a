import Composable
package import LiveEvents
package import NIOCore

/// A SwiftNIO event loop as the lane of stores: jobs and effects run on its thread, in order.
package struct EventLoopLane: Lane {
  private let eventLoop: any EventLoop
  package let taskExecutor: (any TaskExecutor)?
  private let activity: LaneActivity
  /// The room whose store has this lane.
  private let room: RoomName?

  package init(_ eventLoop: any EventLoop, meter: TurnMeter, room: RoomName? = nil) {
    self.init(
      eventLoop, EventLoopTaskExecutor(eventLoop, meter: meter), meter.activity, room)
  }

  private init(
    _ eventLoop: any EventLoop, _ executor: (any TaskExecutor)?, _ activity: LaneActivity,
    _ room: RoomName?
  ) {
    self.eventLoop = eventLoop
    taskExecutor = executor
    self.activity = activity
    self.room = room
  }

  /// The same lane for the store of a room.
  package func of(_ room: RoomName) -> EventLoopLane {
    EventLoopLane(eventLoop, taskExecutor, activity, room)
  }

  package func execute(_ job: @escaping @Sendable () -> Void) { eventLoop.execute(job) }

  package func effectBegins(_ name: String) { activity.does(.effect(name), in: room) }
}

/// Runs tasks on an event loop; each job is a turn of the lane.
final class EventLoopTaskExecutor: TaskExecutor {
  private let eventLoop: any EventLoop
  private let meter: TurnMeter

  init(_ eventLoop: any EventLoop, meter: TurnMeter) {
    self.eventLoop = eventLoop
    self.meter = meter
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    eventLoop.execute { [self] in
      meter.measure {
        // Its name is told when it begins; a job that goes on after a wait does not know it.
        meter.activity.does(.effect("(resumed)"), in: nil)
        job.runSynchronously(on: asUnownedTaskExecutor())
      }
    }
  }
}
