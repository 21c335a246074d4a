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

/// A loop under the watchdog.
package struct WatchedLane: Sendable {
  /// Its name, for the log.
  package let name: String
  let heartbeat = Heartbeat()
  let ping: @Sendable (Heartbeat) -> Void

  /// - Parameter ping: Posts a turn to the loop that calls ``Heartbeat/beat()``. It is called on
  ///   the checker's thread and must neither wait nor beat by itself.
  package init(name: String, ping: @escaping @Sendable (Heartbeat) -> Void) {
    self.name = name
    self.ping = ping
  }
}

/// Connects ``Watchdog`` to the lanes and the service manager: each ``tick(now:)`` is one check.
package struct WatchdogDriver: Sendable {
  /// A lane that did not answer, as reported by a tick.
  package struct StalledLane: Sendable, Equatable {
    /// Its name.
    package let name: String
    /// Nanoseconds since the unanswered ping.
    package let nanoseconds: UInt64

    package init(name: String, nanoseconds: UInt64) {
      self.name = name
      self.nanoseconds = nanoseconds
    }
  }

  private let lanes: [WatchedLane]
  private let notifier: ServiceNotifier
  private var watchdog: Watchdog

  /// A driver that feeds through `notifier` while all of `lanes` make progress.
  package init(lanes: [WatchedLane], notifier: ServiceNotifier) {
    self.lanes = lanes
    self.notifier = notifier
    watchdog = Watchdog(laneCount: lanes.count)
  }

  /// Checks once: reads the heartbeats, feeds the watchdog if all have advanced, and sends pings.
  ///
  /// - Returns: The lanes whose last ping is unanswered.
  /// - Throws: if the service manager could not be notified; the pings were sent nevertheless.
  package mutating func tick(now: UInt64) throws(SystemError) -> [StalledLane] {
    let step = watchdog.check(now: now, heartbeats: lanes.map(\.heartbeat.count))
    for index in step.ping { lanes[index].ping(lanes[index].heartbeat) }
    if step.feed { try notifier.watchdog() }
    return step.silent.map { StalledLane(name: lanes[$0.lane].name, nanoseconds: $0.nanoseconds) }
  }
}
