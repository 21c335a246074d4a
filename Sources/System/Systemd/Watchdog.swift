/// Decides when to feed the service manager's watchdog: only when *every* required loop has made
/// progress since the last time, and never by a timer.
///
/// Each loop, here called a lane, shows progress by advancing a counter in answer to a ping. At
/// each check, the caller passes the counters and performs the returned ``Step``. A loop has at
/// most one unanswered ping, so the queue of a blocked loop does not grow. Has no clock or threads.
package struct Watchdog: Sendable {
  package struct Step: Sendable, Equatable {
    /// Whether to feed the manager's watchdog.
    package var feed = false
    /// The lanes to which a ping must be sent.
    package var ping: [Int] = []
    /// The lanes whose ping is unanswered, with the time since it was sent.
    package var silent: [Silence] = []

    package init(feed: Bool = false, ping: [Int] = [], silent: [Silence] = []) {
      self.feed = feed
      self.ping = ping
      self.silent = silent
    }
  }

  package struct Silence: Sendable, Equatable {
    package var lane: Int
    /// The nanoseconds since the unanswered ping was sent.
    package var nanoseconds: UInt64

    package init(lane: Int, nanoseconds: UInt64) {
      self.lane = lane
      self.nanoseconds = nanoseconds
    }
  }

  private struct Lane {
    let isRequired: Bool
    var counterAtPing: UInt64 = 0
    var pingedAt: UInt64?
    var progressed = false
  }

  private var lanes: [Lane]

  /// Watches `laneCount` loops. Without any loop, the watchdog is never fed, because nothing shows
  /// progress.
  package init(laneCount: Int) {
    self.init(isRequired: Array(repeating: true, count: laneCount))
  }

  /// Watches a loop for each element, which is true if the loop's progress is required to feed the
  /// watchdog.
  package init(isRequired: [Bool]) { lanes = isRequired.map { Lane(isRequired: $0) } }

  /// Checks the counters once. Takes O(lanes).
  ///
  /// - Parameters:
  ///   - now: Monotonic nanoseconds, not before the last check.
  ///   - heartbeats: A counter for each lane, in order, which never decreases but may wrap. A lane
  ///     without a counter made no progress.
  package mutating func check(now: UInt64, heartbeats: [UInt64]) -> Step {
    var step = Step()
    for index in lanes.indices where index < heartbeats.count {
      if lanes[index].pingedAt != nil, heartbeats[index] != lanes[index].counterAtPing {
        lanes[index].progressed = true
        lanes[index].pingedAt = nil
      }
    }
    if lanes.contains(where: \.isRequired), lanes.allSatisfy({ $0.progressed || !$0.isRequired }) {
      step.feed = true
      for index in lanes.indices { lanes[index].progressed = false }
    }
    for index in lanes.indices {
      if let pingedAt = lanes[index].pingedAt {
        step.silent.append(Silence(lane: index, nanoseconds: now - min(now, pingedAt)))
      } else if index < heartbeats.count {
        lanes[index].counterAtPing = heartbeats[index]
        lanes[index].pingedAt = now
        step.ping.append(index)
      }
    }
    return step
  }
}
