/// Decides when the service manager's watchdog may be fed: only when *every* required loop made
/// progress since it was fed last. No timer can feed it.
///
/// A lane's progress is a counter that its own loop advances in answer to a ping. At each look the
/// caller hands in the counters and does what the ``Step`` says. A lane has at most one ping
/// outstanding, so a blocked loop's queue does not grow. A value without clock or threads.
package struct Watchdog: Sendable {
  /// What to do after one check.
  package struct Step: Sendable, Equatable {
    /// Feed the manager's watchdog.
    package var feed = false
    /// Send a ping to each of these lanes.
    package var ping: [Int] = []
    /// Lanes whose ping is unanswered, with the time since it was sent.
    package var silent: [Silence] = []

    package init(feed: Bool = false, ping: [Int] = [], silent: [Silence] = []) {
      self.feed = feed
      self.ping = ping
      self.silent = silent
    }
  }

  /// A lane that did not answer yet.
  package struct Silence: Sendable, Equatable {
    /// Index of the lane.
    package var lane: Int
    /// Nanoseconds since its ping was sent.
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

  /// Watches `laneCount` loops. With none the watchdog is never fed: nothing shows progress.
  package init(laneCount: Int) {
    self.init(isRequired: Array(repeating: true, count: laneCount))
  }

  /// - Parameter isRequired: for each loop, whether the watchdog is fed only if it makes progress.
  package init(isRequired: [Bool]) { lanes = isRequired.map { Lane(isRequired: $0) } }

  /// Checks the counters once.
  ///
  /// - Parameters:
  ///   - now: Monotonic nanoseconds, not before the last look's.
  ///   - heartbeats: One counter for each lane, in order, that never goes back (it may wrap). A
  ///     lane without a counter made no progress.
  /// - Complexity: O(lanes).
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
