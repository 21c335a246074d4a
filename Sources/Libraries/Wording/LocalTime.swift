import Glibc

extension Format {
  /// Formats a time in the local time zone, such as `2026-11-21 12:30:07.250`.
  package static func time(milliseconds: Int) -> String {
    var seconds = time_t(milliseconds / 1_000)
    var parts = tm()
    localtime_r(&seconds, &parts)
    let date = [Int(parts.tm_year) + 1_900, Int(parts.tm_mon) + 1, Int(parts.tm_mday)]
      .map { padded($0, 2) }.joined(separator: "-")
    let time = [parts.tm_hour, parts.tm_min, parts.tm_sec]
      .map { padded(Int($0), 2) }.joined(separator: ":")
    return "\(date) \(time).\(padded(milliseconds % 1_000, 3))"
  }
}
