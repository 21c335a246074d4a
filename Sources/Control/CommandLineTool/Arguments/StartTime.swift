import ArgumentParser
import Glibc
import ProgramArguments

/// A future point in time, as an argument: `10m` from now, `20:15`, or `@1795260000` as printed by
/// `date +%s`; `none` if it is unknown.
package struct StartTime: ExpressibleByArgument {
  /// Milliseconds since 1970; nil for `none`.
  package let milliseconds: Int?

  package init?(argument: String) {
    self.init(argument, now: PointInTime.now)
  }

  /// - Parameter now: milliseconds since 1970.
  package init?(_ argument: String, now: Int) {
    if argument == "none" {
      milliseconds = nil
    } else if argument.contains(":") {
      guard let time = Self.nextTime(argument, now: now) else { return nil }
      milliseconds = time
    } else {
      guard !argument.hasPrefix("-"),
        let point = try? PointInTime(argument, now: now, forward: true)
      else { return nil }
      milliseconds = point.milliseconds
    }
  }

  /// Returns the next time, today or tomorrow, at which a local clock shows `HH:MM`.
  private static func nextTime(_ text: String, now: Int) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.count <= 2 && $0.allSatisfy(\.isASCII) }),
      let hour = Int(parts[0]), let minute = Int(parts[1]), (0..<24).contains(hour),
      (0..<60).contains(minute), parts[1].count == 2
    else { return nil }
    var seconds = now / 1_000
    var day = tm()
    localtime_r(&seconds, &day)
    day.tm_hour = Int32(hour)
    day.tm_min = Int32(minute)
    day.tm_sec = 0
    day.tm_isdst = -1
    var today = day
    let time = mktime(&today)
    guard time <= seconds else { return time * 1_000 }
    day.tm_mday += 1
    return mktime(&day) * 1_000
  }
}
