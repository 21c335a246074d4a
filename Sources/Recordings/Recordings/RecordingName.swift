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
    func padded(_ number: Int32, _ width: Int = 2) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    let date = padded(parts.tm_year + 1_900, 4) + padded(parts.tm_mon + 1) + padded(parts.tm_mday)
    let time = padded(parts.tm_hour) + padded(parts.tm_min) + padded(parts.tm_sec)
    return "\(room)-\(date)T\(time)Z"
  }
}
