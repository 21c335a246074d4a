/// Counts of entries that never reached the journal.
package struct LostEntries: Sendable, Equatable {
  package var entries: UInt64 = 0
  /// The number of lost entries that were warnings or worse.
  package var errors: UInt64 = 0

  package init(entries: UInt64 = 0, errors: UInt64 = 0) {
    self.entries = entries
    self.errors = errors
  }
}

/// The size and the rate limits of the journal's queue.
package struct JournalLimits: Sendable {
  /// The maximum number of queued entries, each with a message of up to 8 KiB and a few fields.
  package var capacity = 1024
  /// The number of slots reserved for warnings and errors.
  package var reservedForErrors = 128
  /// The rate limit of kinds that are not in ``ratesByKind``.
  package var rate = JournalRateLimit(burst: 200, intervalNanoseconds: 10_000_000_000)
  /// The rate limits of kinds that need their own.
  package var ratesByKind: [JournalMessageID: JournalRateLimit] = [:]

  package init() {}
}

/// The bounded queue between the threads that log and the thread that writes to the journal.
///
/// Has no clock or threads: the caller passes monotonic nanoseconds. Every offered record leaves
/// the queue exactly once: as an entry, in a repeat count, or in a count of lost entries.
package struct JournalQueue: Sendable {
  /// The effect of offering a record.
  package enum Offer: Equatable { case queued, heldBack, lost }

  package enum Output: Sendable {
    case entry(LogRecord)
    /// The last suppressed record of a kind, which represents `count` records.
    case repeated(LogRecord, count: UInt64)
    /// The entries lost since the last report of losses.
    case lost(LostEntries)
  }

  private enum Kind: Hashable, Sendable {
    case message(String)
    /// The source location identifies a log statement, while its text varies with its values.
    case place(file: String, line: UInt)
  }

  private let limits: JournalLimits
  private var slots: [LogRecord?]
  private var head = 0
  private var limiter = RepeatLimiter<Kind, LogRecord>(maximumKinds: 1024)
  private var unreported = LostEntries()
  /// The number of queued entries that precede the first unreported loss, and are written before
  /// it.
  private var beforeLoss = 0
  private var nextNotice: UInt64 = 0

  package private(set) var count = 0
  package private(set) var totalLost = LostEntries()

  /// The delay after a failed write before the loss is reported.
  package static let retryNanoseconds: UInt64 = 1_000_000_000

  package init(limits: JournalLimits) {
    self.limits = limits
    slots = Array(repeating: nil, count: max(1, limits.capacity))
  }

  /// Adds a record to the queue. Never waits. Takes O(1).
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

  /// Returns what to write now: entries in order, a count of lost entries at the position of the
  /// loss, and repeat counts whose interval is over; with `flushing`, all repeat counts.
  package mutating func next(now: UInt64, flushing: Bool = false) -> Output? {
    if unreported.entries > 0, beforeLoss == 0, nextNotice <= now {
      defer { unreported = LostEntries() }
      return .lost(unreported)
    }
    guard count > 0, let record = slots[head] else {
      // Repeat counts follow all entries, so that they do not overtake the entries that they count.
      return limiter.removeDue(now: flushing ? .max : now).map {
        .repeated($0.record, count: $0.count)
      }
    }
    slots[head] = nil
    head = (head + 1) % slots.count
    count -= 1
    if beforeLoss > 0 { beforeLoss -= 1 }
    return .entry(record)
  }

  /// The time at which ``next(now:)`` has an output even if no record is offered. Nil if never.
  package var nextWake: UInt64? {
    if count > 0 { return 0 }
    let noticeDue = unreported.entries > 0 ? nextNotice : nil
    return [noticeDue, limiter.nextDue].compactMap(\.self).min()
  }

  /// Counts an output that could not be written as lost.
  package mutating func failed(_ output: Output, now: UInt64) {
    let (sum, overflow) = now.addingReportingOverflow(Self.retryNanoseconds)
    nextNotice = overflow ? .max : sum
    switch output {
    case .entry(let record):
      refuse(record)
    case .repeated(let record, let count):
      countLost(LostEntries(entries: count, errors: record.isError ? count : 0))
    case .lost(let reported):
      // The total already includes these entries; only the report must be repeated.
      unreported.entries += reported.entries
      unreported.errors += reported.errors
    }
  }

  /// Counts a record as lost without queueing it.
  package mutating func refuse(_ record: LogRecord) {
    countLost(LostEntries(entries: 1, errors: record.isError ? 1 : 0))
  }

  private mutating func countLost(_ lost: LostEntries) {
    if unreported.entries == 0 { beforeLoss = count }
    unreported.entries += lost.entries
    unreported.errors += lost.errors
    totalLost.entries += lost.entries
    totalLost.errors += lost.errors
  }
}
