import DequeModule
package import LiveEvents

/// The maximum number of messages within one second of their timestamps.
package struct PeakSecond: Equatable, Sendable, Codable {
  /// The maximum among timestamps with the same whole number of seconds.
  package var byClock = 0
  /// The maximum within any window of 1,000 ms: timestamps in `(t - 1000, t]` for any `t`.
  package var sliding = 0

  package init() {}
}

/// Counts messages per second by their timestamps, which may arrive out of order.
///
/// Both maxima are exact for timestamps that are at most ``horizon`` older than the newest
/// timestamp received before them. Older timestamps are ignored. After ``patience`` consecutive old
/// timestamps, either the source's clock was set back, or a single timestamp was far in the future.
/// Counting then restarts, but the maxima are kept.
///
/// Stores one number for each millisecond with a message, for the horizon and one more second: at
/// most about 11,000. Counting is O(1) for a timestamp in order, and O(log n) plus a short move for
/// a timestamp out of order. ``settle()`` evaluates the windows once per batch. This is exact,
/// because the count of a window only grows: its last value is its largest.
package struct MessagePace: Equatable, Sendable, Codable {
  /// The maximum lateness of a timestamp relative to the newest, in milliseconds.
  package static let horizon: Timestamp = 10_000
  /// The number of consecutive ignored timestamps after which counting restarts.
  package static let patience = 100

  fileprivate struct Moment: Equatable, Codable {
    let timestamp: Timestamp
    var count: Int

    init(timestamp: Timestamp, count: Int) { (self.timestamp, self.count) = (timestamp, count) }

    /// Rejects counts from manipulated files whose sum could overflow.
    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      timestamp = try values.decode(Timestamp.self, forKey: .timestamp)
      count = try values.decode(Int.self, forKey: .count)
      guard count >> 40 == 0 else {
        throw DecodingError.dataCorruptedError(
          forKey: .count, in: values, debugDescription: "the number of messages is out of range")
      }
    }
  }

  /// The milliseconds with messages, in ascending order without duplicates.
  private var moments: Deque<Moment> = []
  /// The oldest and newest timestamps counted since the last ``settle()``.
  private var unsettled: ClosedRange<Timestamp>?
  /// The newest timestamp or tick, as of ``settle()``.
  package private(set) var now: Timestamp = .min
  private var outdated = 0

  package private(set) var busiest = PeakSecond()
  /// The number of messages in the second that ends at ``now``, as of ``settle()``.
  package private(set) var rate = 0
  /// The number of messages in the ten seconds that end at ``now``.
  package private(set) var recent = 0

  package init() {}

  package mutating func count(_ timestamp: Timestamp, times: Int = 1) {
    let time = timestamp.clamped
    guard let newest = moments.last?.timestamp else { return insert(time, times, at: 0) }
    if time == newest {
      moments[moments.count - 1].count += times
      updateRates(time, times)
    } else if time > newest {
      insert(time, times, at: moments.count)
    } else if newest - time <= Self.horizon {
      let position = moments.firstIndex(notBefore: time)
      if moments[position].timestamp == time {
        moments[position].count += times
        updateRates(time, times)
      } else {
        insert(time, times, at: position)
      }
    } else {
      outdated += times
      guard outdated >= Self.patience else { return }
      let left = outdated - Self.patience + 1
      settle()
      moments.removeAll(keepingCapacity: true)
      now = .min
      rate = 0
      recent = 0
      insert(time, left, at: 0)
    }
  }

  /// Advances the time to `timestamp` without a message. A timestamp far before the current time
  /// corrects the current time.
  package mutating func advance(to timestamp: Timestamp) {
    let time = timestamp.clamped
    if time < now && now - time > Self.horizon {
      move(to: max(time, moments.last?.timestamp ?? time))
    } else {
      move(to: max(now, time))
    }
  }

  /// Updates ``busiest`` and ``rate``, and removes messages older than the horizon.
  package mutating func settle() {
    guard let range = unsettled, let newest = moments.last?.timestamp else { return }
    unsettled = nil
    settleSliding(range)
    settleByClock(range)
    move(to: max(now, newest))
    let expired = moments.firstIndex(notBefore: newest - Self.horizon - 1_000)
    if expired > 0 { moments.removeFirst(expired) }
  }

  private mutating func insert(_ time: Timestamp, _ times: Int, at position: Int) {
    moments.insert(Moment(timestamp: time, count: times), at: position)
    updateRates(time, times)
  }

  private mutating func updateRates(_ time: Timestamp, _ times: Int) {
    outdated = 0
    if time > now {
      rate += times
      recent += times
    } else {
      if time > now - 1_000 { rate += times }
      if time > now - 10_000 { recent += times }
    }
    guard let range = unsettled else {
      unsettled = time...time
      return
    }
    if !range.contains(time) {
      unsettled = min(range.lowerBound, time)...max(range.upperBound, time)
    }
  }

  /// Evaluates the windows that end with a message and contain a timestamp in `range`.
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

  /// Evaluates the whole seconds that overlap `range`.
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

  /// Advances ``now`` and the two windows that end with it. Subtracts the messages that leave the
  /// windows, because recounting the windows with every frame would cost more than counting the
  /// messages.
  private mutating func move(to time: Timestamp) {
    if time < now {
      rate = sum(after: time - 1_000, through: .max)
      recent = sum(after: time - 10_000, through: .max)
    } else {
      rate -= sum(after: now == .min ? .min : now - 1_000, through: time - 1_000)
      recent -= sum(after: now == .min ? .min : now - 10_000, through: time - 10_000)
    }
    now = time
  }

  private func sum(after start: Timestamp, through end: Timestamp) -> Int {
    guard start < end else { return 0 }
    var position = moments.firstIndex(notBefore: start + 1)
    var sum = 0
    while position < moments.count, moments[position].timestamp <= end {
      sum += moments[position].count
      position += 1
    }
    return sum
  }
}

extension Deque where Element == MessagePace.Moment {
  /// Returns the index of the first moment that is not before `time`, or the end.
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
  /// The timestamp limited to about 35 million years around 1970, so that a malicious timestamp
  /// cannot cause an overflow.
  fileprivate var clamped: Timestamp { Swift.min(Swift.max(self, -1 << 60), 1 << 60) }

  /// The whole seconds since 1970, rounded down.
  fileprivate var second: Int64 { self >= 0 ? self / 1_000 : (self + 1) / 1_000 - 1 }
}

extension MessagePace: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    // One moment for each millisecond of the horizon and one more second, and as many that will be
    // removed next.
    try require(moments.count <= 2 * (Int(Self.horizon) + 1_000), "moments")
    try require(moments.allSatisfy(\.timestamp.isCountable), "moments")
    try require(times: unsettled?.lowerBound, unsettled?.upperBound, in: "unsettled")
    try require(times: now == .min ? nil : now, in: "now")
    try require(
      countable: outdated, busiest.byClock, busiest.sliding, rate, recent, in: "busiest")
  }
}
