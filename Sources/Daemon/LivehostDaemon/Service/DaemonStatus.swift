package import ControlInterface
import Glibc
package import HostScreen
import NIOCore
import Platform
import Synchronization

/// The health of the daemon, and what else `GetStatus` reports besides rooms. May be used from any
/// thread.
package final class DaemonStatus: Sendable {
  private let version: String
  private let start = NIODeadline.now()
  private let lostEntries: @Sendable () -> Int
  private let logLevel: @Sendable () -> String
  private let longestSliceNanoseconds: @Sendable () -> UInt64
  private let isLosingRooms: @Sendable () -> Bool
  private let stalled = Atomic<Bool>(false)
  /// Totals of received events at times in the last seconds, for the rate.
  private let samples = Guarded<[(at: NIODeadline, received: Int)]>([])

  /// - Parameters:
  ///   - lostEntries: gives the number of journal entries that were lost.
  ///   - longestSliceNanoseconds: gives the longest time that a task ran without yielding.
  ///   - isLosingRooms: whether the state of rooms cannot be written at present.
  package init(
    version: String, lostEntries: @escaping @Sendable () -> Int,
    logLevel: @escaping @Sendable () -> String = { "info" },
    longestSliceNanoseconds: @escaping @Sendable () -> UInt64 = { 0 },
    isLosingRooms: @escaping @Sendable () -> Bool = { false }
  ) {
    self.longestSliceNanoseconds = longestSliceNanoseconds
    self.isLosingRooms = isLosingRooms
    self.version = version
    self.lostEntries = lostEntries
    self.logLevel = logLevel
  }

  /// Notes whether a lane is silent, as found by the watchdog.
  package func noteStall(_ isStalled: Bool) { stalled.store(isStalled, ordering: .relaxed) }

  package func report(
    counts: EventCounts, rooms: Int, lanes: [HostLane], hangs: HangFeed
  ) -> StatusReport {
    let lost = lostEntries()
    let health: Health =
      stalled.load(ordering: .relaxed)
      ? .failing : lost > 0 || isLosingRooms() || Self.isRecent(hangs.newest) ? .degraded : .ok
    let longest = lanes.map(\.meter.longestNanoseconds).max() ?? 0
    let now = NIODeadline.now()
    return StatusReport(
      version: version, uptimeSeconds: Int((now - start).nanoseconds / 1_000_000_000),
      rooms: rooms, eventsPerSecond: rate(received: counts.received, now: now),
      totals: TotalsReport(counts.counters, rejectedByReason: counts.reasons), health: health,
      longestTurnMicroseconds: Int(longest / 1000), memoryBytes: Self.residentBytes(),
      journalEntriesLost: lost, lanes: lanes.count, microhangs: hangs.counts.microhangs,
      hangs: hangs.counts.hangs, logLevel: logLevel(),
      longestSliceMicroseconds: Int(longestSliceNanoseconds() / 1_000))
  }

  /// Whether a hang ended in the last minute.
  private static func isRecent(_ hang: HangReport?) -> Bool {
    guard let hang else { return false }
    return WallClock.milliseconds() - hang.timestamp < 60_000
  }

  /// Events per second since the oldest call in the last ten seconds, or since the start.
  private func rate(received: Int, now: NIODeadline) -> Double {
    samples.withLock { samples in
      let horizon = now - .seconds(10)
      // One sample from before the horizon is kept, where the window begins.
      while samples.count > 1, samples[1].at <= horizon { samples.removeFirst() }
      let base = samples.first ?? (at: start, received: 0)
      if samples.last.map({ now - $0.at >= .milliseconds(100) }) ?? true {
        samples.append((now, received))
      }
      let seconds = Double((now - base.at).nanoseconds) / 1e9
      return seconds > 0 ? Double(received - base.received) / seconds : 0
    }
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
