package import Composable
package import NIOCore

/// A SwiftNIO event loop as the lane of stores: jobs and effects run on its thread, in order.
package struct EventLoopLane: Lane {
  package let eventLoop: any EventLoop
  package let taskExecutor: (any TaskExecutor)?

  package init(_ eventLoop: any EventLoop) {
    self.eventLoop = eventLoop
    taskExecutor = EventLoopTaskExecutor(eventLoop)
  }

  package func execute(_ job: @escaping @Sendable () -> Void) { eventLoop.execute(job) }
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
