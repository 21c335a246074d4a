import Foundation
import NIOCore

/// An event loop that runs its tasks as steps of the machine.
final class SimulatedEventLoop: EventLoop, NIOSerialEventLoopExecutor, @unchecked Sendable {
  /// The loop whose task currently runs.
  nonisolated(unsafe) private static var running: SimulatedEventLoop?

  private let machine: Machine
  private var tasks: [() -> Void] = []
  private var isStopped = false

  init(_ machine: Machine) {
    self.machine = machine
    machine.loops.append(self)
  }

  var canRun: Bool { !tasks.isEmpty }

  func runNext() -> Bool {
    let task = tasks.removeFirst()
    Self.running = self
    task()
    Self.running = nil
    return true
  }

  /// Drops all tasks, including tasks that are added later.
  func stop() {
    isStopped = true
    tasks = []
    machine.loops.removeAll { $0 === self }
  }

  // MARK: EventLoop

  var inEventLoop: Bool { Self.running === self }
  var now: NIODeadline { .uptimeNanoseconds(machine.now) }

  func execute(_ task: @escaping @Sendable () -> Void) {
    if !isStopped { tasks.append(task) }
  }

  func scheduleTask<T>(
    deadline: NIODeadline, _ task: @escaping @Sendable () throws -> T
  ) -> Scheduled<T> {
    let promise = makePromise(of: T.self)
    let isCancelled = Flag()
    machine.at(deadline.uptimeNanoseconds) { [weak self] in
      guard let self, !isStopped, !isCancelled.isSet else { return }
      tasks.append {
        guard !isCancelled.isSet else { return }
        promise.assumeIsolated().completeWith(Result { try task() })
      }
    }
    return Scheduled(promise: promise) {
      isCancelled.isSet = true
    }
  }

  func scheduleTask<T>(
    in time: TimeAmount, _ task: @escaping @Sendable () throws -> T
  ) -> Scheduled<T> {
    scheduleTask(deadline: now + time, task)
  }

  func preconditionInEventLoop(file: StaticString, line: UInt) {
    precondition(inEventLoop, file: file, line: line)
  }

  func preconditionNotInEventLoop(file: StaticString, line: UInt) {
    precondition(!inEventLoop, file: file, line: line)
  }

  func shutdownGracefully(
    queue: DispatchQueue, _ callback: @escaping @Sendable ((any Error)?) -> Void
  ) {
    stop()
    callback(nil)
  }
}

/// A shared flag. Needs no lock because only one thread runs at a time.
private final class Flag: @unchecked Sendable { var isSet = false }
