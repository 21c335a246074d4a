/// Entries that never reached the journal.
package struct LostEntries: Sendable, Equatable {
  /// All of them.
  package var entries: UInt64 = 0
  /// Those among them that were warnings or worse.
  package var errors: UInt64 = 0

  package init(entries: UInt64 = 0, errors: UInt64 = 0) {
    self.entries = entries
    self.errors = errors
  }
}

/// Sizes and rates of the queue before the journal.
package struct JournalLimits: Sendable {
  /// Entries that wait at most; at 8 KiB of message and a few fields each.
  package var capacity = 1024
  /// Slots of these that only warnings and errors may take.
  package var reservedForErrors = 128
  /// For kinds not in ``ratesByKind``.
  package var rate = JournalRateLimit(burst: 200, intervalNanoseconds: 10_000_000_000)
  /// Rates of single kinds, where the one for all does not fit.
  package var ratesByKind: [JournalMessageID: JournalRateLimit] = [:]

  package init() {}
}

/// The bounded queue between the threads that log and the one that writes.
///
/// A value without clock or threads; time is passed in, in monotonic nanoseconds. Every offered
/// record leaves as exactly one of: an entry, part of a repeat count, part of a count of lost
/// entries.
package struct JournalQueue: Sendable {
  /// The fate of an offered record.
  package enum Offer: Equatable { case queued, heldBack, lost }

  /// What the writer must write next.
  package enum Output: Sendable {
    case entry(LogRecord)
    /// The last suppressed record of a kind, representing `count` of them.
    case repeated(LogRecord, count: UInt64)
    /// Entries lost since this was last reported.
    case lost(LostEntries)
  }

  private enum Kind: Hashable, Sendable {
    case message(String)
    /// The source location of a statement identifies its template: the text varies with its values.
    case place(file: String, line: UInt)
  }

  private let limits: JournalLimits
  private var slots: [LogRecord?]
  private var head = 0
  private var limiter = RepeatLimiter<Kind, LogRecord>(maximumKinds: 1024)
  private var untold = LostEntries()
  /// Entries still queued from before the first untold loss: they are written first.
  private var beforeLoss = 0
  private var nextNotice: UInt64 = 0

  /// Entries queued now.
  package private(set) var count = 0
  /// All entries lost since the start.
  package private(set) var totalLost = LostEntries()

  /// How long to wait after a failed write before trying to tell about it.
  package static let retryNanoseconds: UInt64 = 1_000_000_000

  package init(limits: JournalLimits) {
    self.limits = limits
    slots = Array(repeating: nil, count: max(1, limits.capacity))
  }

  /// Offers a record; never waits.
  ///
  /// - Complexity: O(1).
  package mutating func offer(_ record: LogRecord, now: UInt64) -> Offer {
    let kind: Kind
    var rate = limits.rate
    if let identifier = record.messageID {
      kind = .message(identifier)
      if let known = JournalMessageID(rawValue: identifier) {
        rate = limits.ratesByKind[known] ?? rate
      }
    } else {
      kind = .place(file: record.file, line: record.line)
    }
    guard limiter.admit(record, kind: kind, limit: rate, now: now) else { return .heldBack }
    let room = record.isError ? slots.count : slots.count - limits.reservedForErrors
    guard count < room else {
      refuse(record)
      return .lost
    }
    slots[(head + count) % slots.count] = record
    count += 1
    return .queued
  }

  /// What to write now: entries in order, a count of lost ones where they are missing, repeat
  /// counts when their interval is over.
  ///
  /// - Parameter flushing: Repeat counts come at once, without waiting for their interval's end.
  package mutating func next(now: UInt64, flushing: Bool = false) -> Output? {
    if untold.entries > 0, beforeLoss == 0, nextNotice <= now {
      defer { untold = LostEntries() }
      return .lost(untold)
    }
    guard count > 0, let record = slots[head] else {
      // Behind all entries: a repeat count must not overtake what it repeats.
      return limiter.takeDue(now: flushing ? .max : now).map {
        .repeated($0.record, count: $0.count)
      }
    }
    slots[head] = nil
    head = (head + 1) % slots.count
    count -= 1
    if beforeLoss > 0 { beforeLoss -= 1 }
    return .entry(record)
  }

  /// When ``next(now:)`` has something to give though no record is offered; nil if never.
  package var nextWake: UInt64? {
    if count > 0 { return 0 }
    let noticeDue = untold.entries > 0 ? nextNotice : nil
    return [noticeDue, limiter.nextDue].compactMap(\.self).min()
  }

  /// Takes back what could not be written: it is lost.
  package mutating func failed(_ output: Output, now: UInt64) {
    let (sum, overflow) = now.addingReportingOverflow(Self.retryNanoseconds)
    nextNotice = overflow ? .max : sum
    switch output {
    case .entry(let record):
      refuse(record)
    case .repeated(let record, let count):
      noteLost(LostEntries(entries: count, errors: record.isError ? count : 0))
    case .lost(let told):
      // Already in the total; only the notice must be repeated.
      untold.entries += told.entries
      untold.errors += told.errors
    }
  }

  /// Counts a record as lost without queueing it.
  package mutating func refuse(_ record: LogRecord) {
    noteLost(LostEntries(entries: 1, errors: record.isError ? 1 : 0))
  }

  private mutating func noteLost(_ lost: LostEntries) {
    if untold.entries == 0 { beforeLoss = count }
    untold.entries += lost.entries
    untold.errors += lost.errors
    totalLost.entries += lost.entries
    totalLost.errors += lost.errors
  }
}
