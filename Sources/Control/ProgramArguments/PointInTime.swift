import Glibc
import SystemSupport

/// A point in time, in one of the forms that journalctl accepts: `-1h` or `10m ago`, `today`,
/// `10:00`, `2026-11-21 10:00`, or `@1795260000` as printed by `date +%s`.
package struct PointInTime: Sendable, Equatable {
  package struct Unreadable: Error, Equatable, CustomStringConvertible {
    package let description: String
  }

  /// The time in milliseconds since 1970.
  package let milliseconds: Int

  /// - Parameters:
  ///   - now: milliseconds since 1970. Dates are in the time zone of the process unless they end
  ///     with `UTC` or `Z`.
  ///   - forward: whether a duration without a sign means the future instead of the past.
  package init(
    _ text: String, now: Int = PointInTime.now, forward: Bool = false
  ) throws(Unreadable) {
    let words = text.split(whereSeparator: \.isWhitespace).map { $0.lowercased() }
    if let relative = try Self.relative(words) {
      milliseconds = forward ? now + relative : now - relative
    } else if text.hasPrefix("@") {
      guard let seconds = Double(text.dropFirst()), abs(seconds) < 1e12 else {
        throw Unreadable(description: "@ must be followed by seconds since 1970, as in @1795260000")
      }
      milliseconds = Int((seconds * 1_000).rounded())
    } else if let day = try Self.calendar(words, now: now) {
      milliseconds = day
    } else {
      throw Unreadable(
        description:
          "give a time such as -1h, 10m, today, 10:00, '2026-11-21 10:00' or @1795260000")
    }
  }

  package static var now: Int { WallClock.milliseconds() }

  /// Returns the length in milliseconds of a duration without a sign, such as `90s` or `1h30min`;
  /// nil for a text of another form.
  package static func duration(_ text: String) -> Int? {
    guard text.first?.isNumber == true, !text.lowercased().hasSuffix("ago") else { return nil }
    let words = text.split(whereSeparator: \.isWhitespace).map { $0.lowercased() }
    return (try? relative(words)).flatMap { $0 }
  }

  // MARK: Relative

  private static let units: [String: Double] = [
    "ms": 1, "s": 1e3, "sec": 1e3, "second": 1e3, "seconds": 1e3, "m": 60e3, "min": 60e3,
    "minute": 60e3, "minutes": 60e3, "h": 3_600e3, "hr": 3_600e3, "hour": 3_600e3,
    "hours": 3_600e3, "d": 86_400e3, "day": 86_400e3, "days": 86_400e3, "w": 604_800e3,
    "week": 604_800e3, "weeks": 604_800e3,
  ]

  /// Returns how many milliseconds before now a text such as `-1h30min`, `90s` or `2 h ago` means;
  /// nil for a text of another form.
  private static func relative(_ words: [String]) throws(Unreadable) -> Int? {
    var rest = words.joined()[...]
    if rest.hasPrefix("+") {
      throw Unreadable(description: "the time is in the future; give an earlier one, such as -1h")
    }
    if rest.hasPrefix("-") { rest.removeFirst() }
    if rest.hasSuffix("ago") { rest.removeLast(3) }
    var sum = 0.0
    var isEmpty = true
    while let first = rest.first, first.isASCII, first.isNumber {
      let number = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
      rest.removeFirst(number.count)
      let unit = rest.prefix { $0.isASCII && $0.isLetter }
      rest.removeFirst(unit.count)
      // A number without a unit is not a duration; it may be the beginning of a date.
      if unit.isEmpty { return nil }
      guard let count = Double(number), let factor = units[String(unit)] else {
        if !rest.isEmpty || Double(number) == nil { return nil }
        throw Unreadable(description: "'\(unit)' is not a unit of time; use s, m, h, d or w")
      }
      sum += count * factor
      isEmpty = false
    }
    guard rest.isEmpty, !isEmpty else { return nil }
    guard sum < 1e15 else { throw Unreadable(description: "the time is too long ago") }
    return Int(sum.rounded())
  }

  // MARK: Calendar

  /// Returns the time that a text means: `now`, `today`, `yesterday`, a date, a time of day, or a
  /// date with a time of day. Returns nil for a text of another form.
  private static func calendar(_ words: [String], now: Int) throws(Unreadable) -> Int? {
    if words == ["now"] { return now }
    var words = words
    var inUTC = false
    if words.count > 1, words.last == "utc" || words.last == "z" {
      inUTC = true
      words.removeLast()
    } else if let last = words.last, last.hasSuffix("z"), last.contains(":") {
      inUTC = true
      words[words.count - 1].removeLast()
    }
    if words.count == 1, let word = words.first, word.contains("t"), word.contains("-") {
      words = word.split(separator: "t").map(String.init)
    }
    guard (1...2).contains(words.count) else { return nil }
    var (time, fraction) = (brokenDownTime(now, inUTC), 0)
    (time.tm_hour, time.tm_min, time.tm_sec) = (0, 0, 0)
    switch words[0] {
    case "today": break
    case "yesterday": time.tm_mday -= 1
    default:
      if words[0].contains("-") {
        guard let date = numbers(words[0], "-"), date.count == 3 else { return nil }
        (time.tm_year, time.tm_mon, time.tm_mday) = (date[0] - 1_900, date[1] - 1, date[2])
        guard exists(time) else { throw Unreadable(description: "the calendar has no such day") }
      } else {
        guard words.count == 1, words[0].contains(":") else { return nil }
        words.insert("today", at: 0)
      }
    }
    if words.count == 2 {
      let parts = words[1].split(separator: ".", omittingEmptySubsequences: false)
      guard let clock = numbers(String(parts[0]), ":"), (2...3).contains(clock.count),
        parts.count <= 2
      else { return nil }
      guard (0...23).contains(clock[0]), clock.dropFirst().allSatisfy({ (0...59).contains($0) })
      else { throw Unreadable(description: "a time of day is between 00:00 and 23:59") }
      (time.tm_hour, time.tm_min, time.tm_sec) = (
        clock[0], clock[1], clock.count > 2 ? clock[2] : 0
      )
      if parts.count == 2 {
        guard let part = Double("0.\(parts[1])") else { return nil }
        fraction = Int((part * 1_000).rounded())
      }
    }
    // The C library determines whether summer time is in effect.
    time.tm_isdst = -1
    return (inUTC ? timegm(&time) : mktime(&time)) * 1_000 + fraction
  }

  private static func brokenDownTime(_ milliseconds: Int, _ inUTC: Bool) -> tm {
    var seconds = time_t(milliseconds / 1_000)
    var parts = tm()
    if inUTC { gmtime_r(&seconds, &parts) } else { localtime_r(&seconds, &parts) }
    return parts
  }

  /// Returns whether a date exists in the calendar. For 31 April, the C library would silently use
  /// 1 May.
  private static func exists(_ day: tm) -> Bool {
    var normal = day
    guard (0...8_099).contains(day.tm_year), timegm(&normal) != -1 else { return false }
    return normal.tm_mday == day.tm_mday && normal.tm_mon == day.tm_mon
  }

  private static func numbers(_ text: String, _ separator: Character) -> [Int32]? {
    var numbers: [Int32] = []
    for part in text.split(separator: separator, omittingEmptySubsequences: false) {
      guard (1...4).contains(part.count), part.allSatisfy({ $0.isASCII && $0.isNumber }),
        let number = Int32(part)
      else { return nil }
      numbers.append(number)
    }
    return numbers
  }
}
