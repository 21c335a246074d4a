package import ControlInterface
import Glibc
package import HostScreen
import NIOCore
import Platform
package import Systemd
package import UnixSockets
package import WireFormats

/// The health of the daemon, and what else `GetStatus` reports besides rooms. May be used from any
/// thread.
package final class DaemonStatus: Sendable {
  private let version: String
  private let start = NIODeadline.now()
  private let lostEntries: @Sendable () -> Int
  private let logLevel: @Sendable () -> String
  private let longestSliceNanoseconds: @Sendable () -> UInt64
  private let otherProblems: @Sendable () -> [Problem]
  private let stalled = Guarded<[Stall]>([])
  /// When it was first noticed that entries of the journal were lost.
  private let entriesLostSince = Guarded<Int?>(nil)

  /// A thread that makes no progress.
  private struct Stall: Sendable {
    let thread: WatchdogDriver.SilentThread
    /// Milliseconds since 1970.
    let since: Int
  }
  private let refusals: @Sendable () -> RefusalCounts
  private let remarks: @Sendable () -> [DecodingRemark: Int]
  private let received = Guarded(ReceivedRate())

  /// - Parameters:
  ///   - lostEntries: gives the number of journal entries that were lost.
  ///   - longestSliceNanoseconds: gives the longest time that a task ran without yielding.
  ///   - problems: gives what is wrong at present besides.
  ///   - refusals: what clients were refused so far.
  ///   - remarks: how often each remark was made about a line so far.
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

  /// Notes which threads make no progress, as found by the watchdog.
  package func note(stalled threads: [WatchdogDriver.SilentThread]) {
    let now = WallClock.milliseconds()
    stalled.withLock { stalls in
      stalls = threads.map { thread in
        let known = stalls.first { $0.thread.name == thread.name }
        return Stall(
          thread: thread, since: known?.since ?? now - Int(thread.nanoseconds / 1_000_000))
      }
    }
  }

  /// What is wrong at present, the oldest first, and what that makes of the daemon.
  private func problems(lost: Int, hang: HangReport?) -> (Health, [Problem]) {
    let stalls = stalled.withLock { $0 }
    var problems = stalls.map { stall in
      Problem(
        part: stall.thread.name,
        text:
          "\(stall.thread.duty.meaning); silent for \(stall.thread.nanoseconds / 1_000_000_000) s",
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
    counts: EventCounts, rooms: Int, packedRooms: Int = 0, lanes: [HostLane], hangs: HangFeed
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
      refusals: Self.reports(refusals()), packedRooms: packedRooms > 0 ? packedRooms : nil,
      unknownKinds: remarks.kinds, unusableFields: remarks.fields)
  }

  /// Remarks about lines by name; `nil` if there are none.
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

  /// Whether a hang ended in the last minute.
  private static func isRecent(_ hang: HangReport) -> Bool {
    WallClock.milliseconds() - hang.timestamp < 60_000
  }

  /// Notes how many events were received by now. To be called once a second, so that the rate is that of the last
  /// ten, whoever asks and whenever.
  package func note(received count: Int) {
    received.withLock { $0.note(count, at: .now()) }
  }

  /// Resident memory of this process, from `/proc/self/statm`; 0 if that cannot be read.
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
  /// What it means that such a thread stands still.
  fileprivate var meaning: String {
    switch self {
    case .loop: "it makes no progress, and nor do its rooms or connections"
    case .storage: "it waits for the disk, and so does everything that is to be kept"
    case .log: "it waits for the journal, which keeps nothing else waiting"
    }
  }
}
