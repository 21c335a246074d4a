package import ControlInterface
import Glibc
package import HostScreen
import Locking
import NIOCore
package import Rooms
import SystemSupport
package import Systemd
package import UnixSockets
package import WireFormats

/// The health of the daemon and everything else in the reply of `GetStatus` except for rooms.
///
/// May be used from any thread.
package final class DaemonStatus: Sendable {
  private let version: String
  private let start = NIODeadline.now()
  private let lostEntries: @Sendable () -> Int
  private let logLevel: @Sendable () -> String
  private let longestSliceNanoseconds: @Sendable () -> UInt64
  private let otherProblems: @Sendable () -> [Problem]
  private let stalled = Guarded<[Stall]>([])
  /// When a report first found that journal entries were lost, in milliseconds since 1970.
  private let entriesLostSince = Guarded<Int?>(nil)

  private struct Stall: Sendable {
    let thread: WatchdogDriver.SilentThread
    /// The time at which the thread fell silent, in milliseconds since 1970.
    let since: Int
  }
  private let refusals: @Sendable () -> RefusalCounts
  private let remarks: @Sendable () -> [DecodingRemark: Int]
  private let received = Guarded(ReceivedRate())

  /// - Parameters:
  ///   - lostEntries: Returns the number of journal entries that were lost.
  ///   - longestSliceNanoseconds: Returns the longest time that a task ran without yielding.
  ///   - remarks: Returns how often the decoder has made each remark about a line so far.
  package init(
    version: String, lostEntries: @escaping @Sendable () -> Int,
    logLevel: @escaping @Sendable () -> String = { "info" },
    longestSliceNanoseconds: @escaping @Sendable () -> UInt64 = { 0 },
    problems: @escaping @Sendable () -> [Problem] = { [] },
    refusals: @escaping @Sendable () -> RefusalCounts = { RefusalCounts() },
    remarks: @escaping @Sendable () -> [DecodingRemark: Int] = { [:] }
  ) {
    self.refusals = refusals
    self.remarks = remarks
    self.longestSliceNanoseconds = longestSliceNanoseconds
    otherProblems = problems
    self.version = version
    self.lostEntries = lostEntries
    self.logLevel = logLevel
  }

  /// Replaces the recorded set of threads that the watchdog found to make no progress.
  package func setStalled(_ threads: [WatchdogDriver.SilentThread]) {
    let now = WallClock.milliseconds()
    stalled.withLock { stalls in
      stalls = threads.map { thread in
        let known = stalls.first { $0.thread.name == thread.name }
        return Stall(
          thread: thread, since: known?.since ?? now - Int(thread.nanoseconds / 1_000_000))
      }
    }
  }

  /// Returns the current problems, oldest first, and the health derived from them.
  private func problems(lost: Int, hang: HangReport?) -> (Health, [Problem]) {
    let stalls = stalled.withLock { $0 }
    var problems = stalls.map { stall in
      Problem(
        part: stall.thread.name,
        text:
          "\(stall.thread.duty.consequence); silent for \(stall.thread.nanoseconds / 1_000_000_000) s",
        since: stall.since)
    }
    problems += otherProblems()
    if lost > 0 {
      let since = entriesLostSince.withLock { since in
        since = since ?? WallClock.milliseconds()
        return since ?? 0
      }
      problems.append(
        Problem(part: "journal", text: "\(lost) entries could not be written", since: since))
    }
    if let hang, Self.isRecent(hang) {
      problems.append(Problem(part: "lane \(hang.lane)", text: hang.line, since: hang.timestamp))
    }
    problems.sort { $0.since < $1.since }
    let isFailing = stalls.contains { $0.thread.duty == .loop }
    return (isFailing ? .failing : problems.isEmpty ? .ok : .degraded, problems)
  }

  package func report(
    counts: EventCounts, rooms: Int, hibernatedRooms: Int = 0, lanes: [HostLane], hangs: HangFeed
  ) -> StatusReport {
    let lost = lostEntries()
    let (health, problems) = problems(lost: lost, hang: hangs.newest)
    let longest = lanes.map(\.meter.longestNanoseconds).max() ?? 0
    let now = NIODeadline.now()
    let remarks = Self.reports(self.remarks())
    return StatusReport(
      version: version, uptimeSeconds: Int((now - start).nanoseconds / 1_000_000_000),
      rooms: rooms, eventsPerSecond: received.withLock { $0.rate(counts.received, at: now) },
      totals: TotalsReport(counts.counters, rejectedByReason: counts.reasons), health: health,
      longestTurnMicroseconds: Int(longest / 1000), memoryBytes: Self.residentBytes(),
      journalEntriesLost: lost, lanes: lanes.count, microhangs: hangs.counts.microhangs,
      hangs: hangs.counts.hangs, logLevel: logLevel(),
      longestSliceMicroseconds: Int(longestSliceNanoseconds() / 1_000),
      problems: problems.isEmpty ? nil : problems,
      refusals: Self.reports(refusals()), packedRooms: hibernatedRooms > 0 ? hibernatedRooms : nil,
      unknownKinds: remarks.kinds, unusableFields: remarks.fields)
  }

  /// Returns the counts of unknown kinds and of unusable fields, by name; `nil` if there are none.
  private static func reports(
    _ remarks: [DecodingRemark: Int]
  ) -> (kinds: [String: Int]?, fields: [String: Int]?) {
    var (kinds, fields): ([String: Int], [String: Int]) = ([:], [:])
    for (remark, count) in remarks {
      switch remark {
      case .kind(let name): kinds[name] = count
      case .field(let name): fields[name] = count
      }
    }
    return (kinds.isEmpty ? nil : kinds, fields.isEmpty ? nil : fields)
  }

  private static func reports(_ refusals: RefusalCounts) -> [RefusalReport]? {
    let reports = refusals.rows.map {
      RefusalReport(user: $0.row.user.map(Int.init), resource: $0.row.resource, count: $0.count)
    }
    return reports.isEmpty ? nil : reports
  }

  /// Whether a hang began less than a minute ago.
  private static func isRecent(_ hang: HangReport) -> Bool {
    WallClock.milliseconds() - hang.timestamp < 60_000
  }

  /// Records the total number of events received so far. Must be called once a second, so that the
  /// rate covers the last ten seconds.
  package func addReceived(_ count: Int) {
    received.withLock { $0.add(count, at: .now()) }
  }

  /// Returns the resident memory of this process in bytes, or 0 if `/proc/self/statm` is
  /// unreadable.
  package static func residentBytes() -> Int {
    guard let file = fopen("/proc/self/statm", "re") else { return 0 }
    defer { fclose(file) }
    var buffer = [CChar](repeating: 0, count: 128)
    guard fgets(&buffer, Int32(buffer.count), file) != nil else { return 0 }
    let text = String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
  }
}

extension WatchedThread.Duty {
  /// The consequence of a stall of this kind of thread, as text for people.
  fileprivate var consequence: String {
    switch self {
    case .loop: "the thread makes no progress, and neither do its rooms or connections"
    case .storage: "the thread waits for the disk, so nothing can be saved"
    case .log: "the thread waits for the journal; no other thread has to wait"
    }
  }
}
