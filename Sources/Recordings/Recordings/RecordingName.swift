import Glibc

/// What recordings are called: the room, and when it began.
enum RecordingName {
  /// For instance `main-20261121T131757Z`.
  ///
  /// - Parameter startedAt: milliseconds since 1970.
  static func make(room: String, startedAt: Int) -> String {
    var seconds = time_t(startedAt / 1_000)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    let day = [parts.tm_mon + 1, parts.tm_mday].map { padded($0, 2) }.joined()
    let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { padded($0, 2) }.joined()
    return "\(room)-\(padded(parts.tm_year + 1_900, 4))\(day)T\(time)Z"
  }
}
