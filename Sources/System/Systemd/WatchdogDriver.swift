import Synchronization
package import SystemSupport

/// A counter that a loop advances to show that it is alive.
package final class Heartbeat: Sendable {
  private let counter = Atomic<UInt64>(0)

  package init() {}

  /// Records progress. Call this only on the watched loop.
  package func beat() { counter.wrappingAdd(1, ordering: .releasing) }

  /// The number of beats.
  package var count: UInt64 { counter.load(ordering: .acquiring) }
}

/// A thread that other parts of the program wait for.
package struct WatchedThread: Sendable {
  /// The consequence if the thread is stuck.
  package enum Duty: Sendable {
    /// The thread serves rooms or connections, which make no progress while the thread is stuck.
    case loop
    /// The thread writes to a disk; requests that wait for the disk are delayed.
    case storage
    /// Nothing waits for the thread, so the watchdog is fed even if the thread is stuck.
    case log
  }

  /// The name of the thread, for the log.
  package let name: String
  package let duty: Duty
  let heartbeat = Heartbeat()
  let ping: @Sendable (Heartbeat) -> Void

  /// Creates a watched thread. `ping` makes the thread call ``Heartbeat/beat()``; it runs on the
  /// checking thread, and must neither wait nor call `beat()` itself.
  package init(
    name: String, duty: Duty = .loop, ping: @escaping @Sendable (Heartbeat) -> Void
  ) {
    self.name = name
    self.duty = duty
    self.ping = ping
  }
}

/// Connects ``Watchdog`` to the threads and the service manager. One call of ``tick(now:)`` is one
/// check.
package struct WatchdogDriver: Sendable {
  /// A thread that did not answer by the time of a tick.
  package struct SilentThread: Sendable, Equatable {
    package let name: String
    package let duty: WatchedThread.Duty
    /// The nanoseconds since the unanswered ping.
    package let nanoseconds: UInt64

    package init(name: String, duty: WatchedThread.Duty = .loop, nanoseconds: UInt64) {
      self.name = name
      self.duty = duty
      self.nanoseconds = nanoseconds
    }
  }

  private let threads: [WatchedThread]
  private let notifier: ServiceNotifier?
  private var watchdog: Watchdog

  /// - Parameter notifier: Feeds the service manager's watchdog while every thread whose duty
  ///   requires progress makes progress. `nil` if the service manager has no watchdog.
  package init(threads: [WatchedThread], notifier: ServiceNotifier?) {
    self.threads = threads
    self.notifier = notifier
    watchdog = Watchdog(isRequired: threads.map { $0.duty != .log })
  }

  /// Checks once: reads the heartbeats, feeds the watchdog if all have advanced, and sends pings.
  /// Returns the threads whose last ping is unanswered. Throws if the service manager could not be
  /// notified, although the pings were sent.
  package mutating func tick(now: UInt64) throws(SystemError) -> [SilentThread] {
    let step = watchdog.check(now: now, heartbeats: threads.map(\.heartbeat.count))
    for index in step.ping { threads[index].ping(threads[index].heartbeat) }
    if step.feed { try notifier?.watchdog() }
    return step.silent.map { silence in
      let thread = threads[silence.lane]
      return SilentThread(
        name: thread.name, duty: thread.duty, nanoseconds: silence.nanoseconds)
    }
  }
}
