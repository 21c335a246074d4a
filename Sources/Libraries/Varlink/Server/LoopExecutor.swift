import NIOCore

/// Runs a task's jobs on an event loop, so that a handler's reply needs no change of thread.
final class LoopExecutor: TaskExecutor {
  let eventLoop: any EventLoop

  init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedTaskExecutor()
    eventLoop.execute { [self] in
      // The closure retains the executor, because the unowned reference does not.
      withExtendedLifetime(self) { job.runSynchronously(on: executor) }
    }
  }
}
