import CommandLineTool
import Foundation
import ProgramArguments
import Testing

@Suite struct PointInTimeTests {
  /// 2026-11-21 12:30:07.250 UTC
  private static let now = 1_795_264_207_250

  private func ago(_ text: String) throws -> Int {
    try Self.now - PointInTime(text, now: Self.now).milliseconds
  }

  @Test(arguments: [
    ("-1h", 3_600_000), ("1h", 3_600_000), ("90s", 90_000), ("10m", 600_000), ("10min", 600_000),
    ("1.5h", 5_400_000), ("-1h30min", 5_400_000), ("1h 30min ago", 5_400_000),
    ("2 hours ago", 7_200_000), ("1d", 86_400_000), ("2 weeks ago", 1_209_600_000),
    ("250ms", 250), ("0s", 0), ("now", 0),
  ])
  func `a relative time is subtracted from the present time`(text: String, milliseconds: Int) throws
  {
    #expect(try ago(text) == milliseconds)
  }

  @Test(arguments: [
    ("@1795264207.25", 0), ("@0", 1_795_264_207_250),
    ("2026-11-21 12:30:07.25 UTC", 0), ("2026-11-21T12:30:07.25Z", 0),
    ("2026-11-21 12:30 UTC", 7_250), ("2026-11-21 utc", 45_007_250),
    ("today utc", 45_007_250), ("yesterday UTC", 45_007_250 + 86_400_000),
    ("yesterday 12:30:07.250 UTC", 86_400_000), ("12:30 UTC", 7_250),
    ("2024-02-29 00:00:00 UTC", 1_795_264_207_250 - 1_709_164_800_000),
  ])
  func `dates and times of day are parsed as points in time`(text: String, milliseconds: Int) throws
  {
    #expect(try ago(text) == milliseconds)
  }

  @Test func `a time without a time zone is local`() throws {
    let midnight = Calendar.current.startOfDay(
      for: Foundation.Date(timeIntervalSince1970: Double(Self.now) / 1_000))
    let milliseconds = Int(midnight.timeIntervalSince1970) * 1_000
    #expect(try PointInTime("today", now: Self.now).milliseconds == milliseconds)
    #expect(try PointInTime("00:00", now: Self.now).milliseconds == milliseconds)
  }

  @Test(arguments: [
    ("soon", "give a time such as"), ("", "give a time such as"), ("-", "give a time such as"),
    ("1", "give a time such as"), ("1x", "'x' is not a unit"), ("1h 2y", "'y' is not a unit"),
    ("+1h", "is in the future"), ("2026-02-30", "no such day"), ("2026-13-01", "no such day"),
    ("25:00", "between 00:00 and 23:59"), ("12:60", "between 00:00 and 23:59"),
    ("@now", "@ must be followed by"), ("2026-11", "give a time such as"),
    ("99999999999999d", "too long ago"), ("2026-11-21 10:00 11:00", "give a time such as"),
    ("12:30:07.x", "give a time such as"), ("1h2026-11-21", "give a time such as"),
  ])
  func `text that is not a point in time is refused with a remedy`(text: String, remedy: String)
    throws
  {
    let error = #expect(throws: PointInTime.Unreadable.self) {
      try PointInTime(text, now: Self.now)
    }
    #expect(error?.description.contains(remedy) == true, "\(error?.description ?? "")")
  }
}
