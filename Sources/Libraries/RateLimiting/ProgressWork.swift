/// The progress of a task.
@usableFromInline struct ProgressReading: Hashable, Sendable {
  @usableFromInline let completed: UInt64
  @usableFromInline let total: UInt64?
  /// The whole percent, 0 to 100; nil if the total is unknown or exceeded.
  @usableFromInline let percent: Int?

  @inlinable init(completed: UInt64, total: UInt64?) {
    self.completed = completed
    self.total = total
    guard let total, completed <= total else {
      percent = nil
      return
    }
    let (product, overflow) = completed.multipliedReportingOverflow(by: 100)
    if total == 0 {
      percent = 100
    } else if !overflow {
      percent = Int(product / total)
    } else {
      percent = Int(total.dividingFullWidth(completed.multipliedFullWidth(by: 100)).quotient)
    }
  }
}

/// The deliveries of one task so far, which determine how the next reading is handled.
@usableFromInline struct ProgressWork: Sendable {
  @usableFromInline enum Verdict {
    case deliver
    /// Hold the value until the next percent or the end.
    case park
    /// Hold the value for a while. `doubted` is true if the reading contradicts a delivered value.
    case wait(doubted: Bool)
    /// Drop the value, because it repeats a delivered value.
    case drop
  }

  @usableFromInline let limit: Int
  /// The number of deliveries left, one of which is reserved for the last value.
  @usableFromInline var remaining: Int
  /// The percent delivered last.
  @usableFromInline var percent = 0
  /// The largest `completed` delivered so far.
  @usableFromInline var highest: UInt64 = 0
  @usableFromInline var last: ProgressReading?

  @inlinable init(limit: Int) {
    self.limit = limit
    remaining = limit
  }

  @inlinable var isDone: Bool { percent == 100 }

  @inlinable func verdict(on reading: ProgressReading, isHolding: Bool) -> Verdict {
    guard let new = reading.percent else { return .wait(doubted: false) }
    if isDone { return reading == last && !isHolding ? .drop : .wait(doubted: true) }
    if new == 100 { return .deliver }
    if new > percent { return remaining > 1 ? .deliver : .park }
    if new == percent { return .park }
    return restarts(reading) || remaining > 1 ? .wait(doubted: true) : .park
  }

  @inlinable mutating func recordDelivery(of reading: ProgressReading) {
    if restarts(reading) { self = ProgressWork(limit: limit) }
    highest = max(highest, reading.completed)
    last = reading
    guard let new = reading.percent else { return }
    percent = new
    remaining = max(remaining - 1, 1)
  }

  @inlinable func restarts(_ reading: ProgressReading) -> Bool {
    guard !isDone else { return true }
    guard let new = reading.percent else { return false }
    return new < percent && reading.completed < highest
  }
}
