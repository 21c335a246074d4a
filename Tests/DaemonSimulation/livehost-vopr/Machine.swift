import CSimulatedMachine
import NIOCore
import TestSupport

/// The machine on which the daemon runs: everything that can run does so one step at a time, in an order that the
/// seed decides.
///
/// Time passes only between steps, and at once if nothing can run.
final class Machine {
  /// Of the process: the default executor of the runtime needs it.
  nonisolated(unsafe) static var current = Machine(seed: 0)

  private typealias Timer = (due: UInt64, fire: () -> Void)

  private var random: SplitMix64
  /// The next one last.
  private var timers: [Timer] = []
  private var jobs: [UnownedJob] = []
  var loops: [SimulatedEventLoop] = []
  /// Runs a job of the work executor, if it has one.
  var work: () -> Bool = { false }
  private(set) var steps = 0

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  var now: UInt64 { machine_now() }

  /// Adds a job for the threads that all tasks share.
  func enqueue(_ job: UnownedJob) { jobs.append(job) }

  /// Calls `body` between two steps, once it is that time.
  func at(_ due: UInt64, _ body: @escaping () -> Void) {
    // Behind all that are due by then: there are some dozens, mostly due soon.
    let index = timers.firstIndex { $0.due <= due } ?? timers.endIndex
    timers.insert((due, body), at: index)
  }

  func after(_ nanoseconds: UInt64, _ body: @escaping () -> Void) {
    at(now &+ nanoseconds, body)
  }

  /// Runs one thing that can run; `false` if nothing can before `end`.
  func step(until end: UInt64 = .max) -> Bool {
    while true {
      while let timer = timers.last, timer.due <= now {
        timers.removeLast()
        timer.fire()
      }
      if runAny() {
        steps += 1
        machine_advance(now + UInt64(random.pick(200..<20_000)))
        return true
      }
      let next = min(timers.last?.due ?? .max, nextThread)
      guard next < .max, next <= end else { return false }
      machine_advance(next)
    }
  }

  /// Runs until `isDone` holds; `false` if it does not by `end`.
  @discardableResult
  func run(until end: UInt64 = .max, _ isDone: () -> Bool = { false }) -> Bool {
    while !isDone() {
      guard now < end, step(until: end) else {
        if end != .max { machine_advance(end) }
        return isDone()
      }
    }
    return true
  }

  private var nextThread: UInt64 {
    (0..<machine_thread_count()).map(machine_thread_due).min() ?? .max
  }

  private func runAny() -> Bool {
    // Few, so that a list costs nothing.
    var choices: [() -> Bool] = []
    if !jobs.isEmpty { choices.append(runJob) }
    for loop in loops where loop.canRun { choices.append(loop.runNext) }
    for number in 0..<machine_thread_count() where machine_thread_due(number) <= now {
      choices.append {
        machine_run(number)
        return true
      }
    }
    choices.append(work)
    while !choices.isEmpty {
      if choices.remove(at: random.pick(0..<choices.count))() { return true }
    }
    return false
  }

  private func runJob() -> Bool {
    // The shared threads take jobs in any order, mostly in theirs.
    let index = random.oneIn(4) ? random.pick(0..<jobs.count) : 0
    jobs.remove(at: index).runSynchronously(on: Self.sharedThreads)
    return true
  }

  /// What the runtime calls generic: no executor in particular.
  private static let sharedThreads = unsafeBitCast((0, 0), to: UnownedSerialExecutor.self)
}
