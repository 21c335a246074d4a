package import LiveEvents

/// The most messages in one second, by time stamp.
package struct BusiestSecond: Equatable, Sendable, Codable {
  /// In one second of the clock: time stamps with the same whole number of seconds.
  package var byClock = 0
  /// In any window of 1,000 ms: time stamps in `(t - 1000, t]`, whatever `t`.
  package var sliding = 0

  package init() {}
}

/// Counts messages per second by their time stamps, which come out of order.
///
/// Both maxima are exact for time stamps that are at most ``horizon`` older than the newest one
/// before them. An older one is left out; after ``patience`` of these in a row the clock of the
/// source was evidently set back (or one time stamp was far in the future) and counting starts
/// anew, with the maxima kept.
///
/// It keeps one number per millisecond in which there was a message, for the horizon and a second,
/// so at most some 11,000. Counting is O(1) for a time stamp in order, O(log n) and a small move for
/// one out of order; the windows are looked at once per batch, by ``settle()``. That loses nothing:
/// the count of a window only grows, so its last value is its largest.
package struct MessagePace: Equatable, Sendable, Codable {
  /// How much later than a newer one a time stamp may come, in milliseconds.
  package static let horizon: Timestamp = 10_000
  /// How many older ones in a row mean that the clock was set back.
  package static let patience = 100

  fileprivate struct Moment: Equatable, Codable {
    let timestamp: Timestamp
    var count: Int
  }

  /// Ascending, without repeats.
  private var moments: [Moment] = []
  /// The oldest and newest time stamp counted since the last ``settle()``.
  private var unsettled: ClosedRange<Timestamp>?
  private var now: Timestamp = .min
  private var outdated = 0

  package private(set) var busiest = BusiestSecond()
  /// Messages in the second that ends with the newest time stamp or tick; as of ``settle()``.
  package private(set) var rate = 0
  /// Messages in the ten seconds that end there.
  package private(set) var recent = 0

  package init() {}

  /// Counts a message.
  package mutating func count(_ timestamp: Timestamp) {
    let time = timestamp.clamped
    guard let newest = moments.last?.timestamp else { return insert(time, at: 0) }
    if time == newest {
      moments[moments.count - 1].count += 1
      noteUnsettled(time)
    } else if time > newest {
      insert(time, at: moments.count)
    } else if newest - time <= Self.horizon {
      let position = moments.firstIndex(notBefore: time)
      if moments[position].timestamp == time {
        moments[position].count += 1
        noteUnsettled(time)
      } else {
        insert(time, at: position)
      }
    } else {
      outdated += 1
      guard outdated >= Self.patience else { return }
      settle()
      moments.removeAll(keepingCapacity: true)
      now = .min
      insert(time, at: 0)
    }
  }

  /// Time went on to `timestamp` without a message. What is far before the time told last corrects it.
  package mutating func advance(to timestamp: Timestamp) {
    let time = timestamp.clamped
    now =
      time < now && now - time > Self.horizon
      ? max(time, moments.last?.timestamp ?? time) : max(now, time)
    updateRate()
  }

  /// Brings ``busiest`` and ``rate`` up to date and forgets what is beyond the horizon.
  package mutating func settle() {
    guard let range = unsettled, let newest = moments.last?.timestamp else { return }
    unsettled = nil
    settleSliding(range)
    settleByClock(range)
    let expired = moments.firstIndex(notBefore: newest - Self.horizon - 1_000)
    if expired > 0 { moments.removeFirst(expired) }
    now = max(now, newest)
    updateRate()
  }

  private mutating func insert(_ time: Timestamp, at position: Int) {
    moments.insert(Moment(timestamp: time, count: 1), at: position)
    noteUnsettled(time)
  }

  private mutating func noteUnsettled(_ time: Timestamp) {
    outdated = 0
    guard let range = unsettled else {
      unsettled = time...time
      return
    }
    if !range.contains(time) {
      unsettled = min(range.lowerBound, time)...max(range.upperBound, time)
    }
  }

  /// Looks at the windows that end with a message and hold a time stamp in `range`.
  private mutating func settleSliding(_ range: ClosedRange<Timestamp>) {
    var end = moments.firstIndex(notBefore: range.lowerBound)
    var start = moments.firstIndex(notBefore: range.lowerBound - 999)
    var count = moments[start..<end].reduce(0) { $0 + $1.count }
    while end < moments.count, moments[end].timestamp < range.upperBound + 1_000 {
      count += moments[end].count
      while moments[start].timestamp <= moments[end].timestamp - 1_000 {
        count -= moments[start].count
        start += 1
      }
      busiest.sliding = max(busiest.sliding, count)
      end += 1
    }
  }

  /// Looks at the seconds of the clock that `range` touches.
  private mutating func settleByClock(_ range: ClosedRange<Timestamp>) {
    var second = range.lowerBound.second
    var position = moments.firstIndex(notBefore: second * 1_000)
    var count = 0
    while position < moments.count, moments[position].timestamp.second <= range.upperBound.second {
      if moments[position].timestamp.second != second {
        second = moments[position].timestamp.second
        count = 0
      }
      count += moments[position].count
      busiest.byClock = max(busiest.byClock, count)
      position += 1
    }
  }

  private mutating func updateRate() {
    var count = 0
    var position = moments.count
    func add(after limit: Timestamp) {
      while position > 0, moments[position - 1].timestamp > limit {
        position -= 1
        count += moments[position].count
      }
    }
    add(after: now - 1_000)
    rate = count
    add(after: now - 10_000)
    recent = count
  }
}

extension Array where Element == MessagePace.Moment {
  /// Position of the first moment that is not before `time`; the end if there is none.
  fileprivate func firstIndex(notBefore time: Timestamp) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle].timestamp < time { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension Timestamp {
  /// Within some 35 million years of 1970, so that a hostile one cannot overflow.
  fileprivate var clamped: Timestamp { Swift.min(Swift.max(self, -1 << 60), 1 << 60) }

  /// Whole seconds since 1970, rounded down.
  fileprivate var second: Int64 { self >= 0 ? self / 1_000 : (self + 1) / 1_000 - 1 }
}
