import CSimulatedMachine
import NIOCore
import TestSupport

/// The simulated machine on which the daemon runs. The machine runs one step at a time, in an order
/// that depends only on the seed.
///
/// Time passes only between steps. If nothing can run, time jumps to the next timer.
final class Machine {
  /// The machine of this process. The runtime's default executor needs a global.
  nonisolated(unsafe) static var current = Machine(seed: 0)

  private typealias Timer = (due: UInt64, fire: () -> Void)

  private var random: SplitMix64
  /// The pending timers in descending order: the next timer is last.
  private var timers: [Timer] = []
  private var jobs: [UnownedJob] = []
  var loops: [SimulatedEventLoop] = []
  /// Runs a job of the work executor. Returns false if the executor has no job.
  var work: () -> Bool = { false }
  private(set) var steps = 0

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  var now: UInt64 { machine_now() }

  /// Adds a job to the global thread pool.
  func enqueue(_ job: UnownedJob) { jobs.append(job) }

  /// Calls `body` between two steps when the time reaches `due`.
  func at(_ due: UInt64, _ body: @escaping () -> Void) {
    // Equal times keep their order. A linear search is enough for a few dozen timers, most of them
    // due soon.
    let index = timers.firstIndex { $0.due <= due } ?? timers.endIndex
    timers.insert((due, body), at: index)
  }

  func after(_ nanoseconds: UInt64, _ body: @escaping () -> Void) {
    at(now &+ nanoseconds, body)
  }

  /// Runs one step. Returns false if nothing can run before `end`.
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

  /// Runs until `isDone` returns true. Returns false if `isDone` is still false at `end`.
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
    // The list is short, so building it is cheap.
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
    // A thread pool usually runs jobs in order but does not have to.
    let index = random.oneIn(4) ? random.pick(0..<jobs.count) : 0
    jobs.remove(at: index).runSynchronously(on: Self.sharedThreads)
    return true
  }

  /// The runtime's "generic" executor: no particular executor.
  private static let sharedThreads = unsafeBitCast((0, 0), to: UnownedSerialExecutor.self)
}
