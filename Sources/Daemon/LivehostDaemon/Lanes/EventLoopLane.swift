import Composable
import NIOCore

/// A SwiftNIO event loop as the lane of stores: jobs and effects run on its thread, in order.
struct EventLoopLane: Lane {
  let eventLoop: any EventLoop
  let taskExecutor: (any TaskExecutor)?

  init(_ eventLoop: any EventLoop) {
    self.eventLoop = eventLoop
    taskExecutor = EventLoopTaskExecutor(eventLoop)
  }

  func execute(_ job: @escaping @Sendable () -> Void) { eventLoop.execute(job) }
}

/// Runs tasks on an event loop.
final class EventLoopTaskExecutor: TaskExecutor {
  private let eventLoop: any EventLoop

  init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    eventLoop.execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}
