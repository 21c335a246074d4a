package import Platform
import Synchronization

/// A counter that a loop advances, in its own turn, to show that it is alive.
package final class Heartbeat: Sendable {
  private let counter = Atomic<UInt64>(0)

  /// Creates a counter at 0.
  package init() {}

  /// Shows progress. Call it on the watched loop and nowhere else.
  package func beat() { counter.wrappingAdd(1, ordering: .releasing) }

  /// The number of beats.
  package var count: UInt64 { counter.load(ordering: .acquiring) }
}

/// A thread that others wait for.
package struct WatchedThread: Sendable {
  /// What it means if it stands still.
  package enum Duty: Sendable {
    /// It serves rooms or connections: what it serves is dead.
    case loop
    /// It writes to a disk: whoever waits for that waits.
    case storage
    /// Nothing waits for it. The watchdog is fed all the same.
    case log
  }

  /// Its name, for the log.
  package let name: String
  package let duty: Duty
  let heartbeat = Heartbeat()
  let ping: @Sendable (Heartbeat) -> Void

  /// - Parameter ping: Makes the thread call ``Heartbeat/beat()``. It is called on the checker's
  ///   thread and must neither wait nor beat by itself.
  package init(
    name: String, duty: Duty = .loop, ping: @escaping @Sendable (Heartbeat) -> Void
  ) {
    self.name = name
    self.duty = duty
    self.ping = ping
  }
}

/// Connects ``Watchdog`` to the threads and the service manager: each ``tick(now:)`` is one check.
package struct WatchdogDriver: Sendable {
  /// A thread that did not answer, as reported by a tick.
  package struct SilentThread: Sendable, Equatable {
    /// Its name.
    package let name: String
    package let duty: WatchedThread.Duty
    /// Nanoseconds since the unanswered ping.
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

  /// - Parameter notifier: fed while all of `threads` make progress whose duty demands it; `nil` if
  ///   the service manager has no watchdog.
  package init(threads: [WatchedThread], notifier: ServiceNotifier?) {
    self.threads = threads
    self.notifier = notifier
    watchdog = Watchdog(isRequired: threads.map { $0.duty != .log })
  }

  /// Checks once: reads the heartbeats, feeds the watchdog if all have advanced, and sends pings.
  ///
  /// - Returns: The threads whose last ping is unanswered.
  /// - Throws: if the service manager could not be notified; the pings were sent nevertheless.
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
