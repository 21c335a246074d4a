import Glibc
import Logging
import SystemSupport

/// The time of day shown before a log line.
package struct TimeOfDay: Sendable {
  package var hour: Int
  package var minute: Int
  package var second: Int
  package var millisecond: Int

  package init(hour: Int, minute: Int, second: Int, millisecond: Int) {
    self.hour = hour
    self.minute = minute
    self.second = second
    self.millisecond = millisecond
  }

  /// Returns the current time in the local time zone.
  package static func now() -> TimeOfDay {
    let milliseconds = WallClock.milliseconds()
    var seconds = time_t(milliseconds / 1000)
    var local = tm()
    localtime_r(&seconds, &local)
    return TimeOfDay(
      hour: Int(local.tm_hour), minute: Int(local.tm_min), second: Int(local.tm_sec),
      millisecond: milliseconds % 1000)
  }
}

/// Formats a log record for people: `12:34:56.789 notice  Room opened room=main`.
package enum ConsoleLine {
  /// Returns the line with its line feed. Escapes control characters, so that text from outside can
  /// neither forge a line nor control the terminal.
  package static func format(_ record: LogRecord, at time: TimeOfDay, colour: Bool) -> String {
    let clock =
      "\(padded(time.hour, 2)):\(padded(time.minute, 2)):\(padded(time.second, 2))"
      + ".\(padded(time.millisecond, 3))"
    let level =
      record.level.rawValue + String(repeating: " ", count: 8 - record.level.rawValue.count)
    var line =
      colour
      ? "\(dim)\(clock)\(plain) \(colourOf(record.level))\(level)\(plain)" : "\(clock) \(level)"
    line += " " + escaped(record.message)
    for field in record.fields {
      let text = " \(escaped(field.key))=\(quotedIfNeeded(field.value))"
      line += colour ? dim + text + plain : text
    }
    return line + "\n"
  }

  private static let dim = "\u{1b}[2m"
  private static let plain = "\u{1b}[0m"

  private static func colourOf(_ level: Logger.Level) -> String {
    switch level {
    case .trace, .debug: dim
    case .info: ""
    case .notice: "\u{1b}[1m"
    case .warning: "\u{1b}[33m"
    case .error, .critical: "\u{1b}[31m"
    }
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  private static func quotedIfNeeded(_ value: String) -> String {
    let plain =
      !value.isEmpty && value.unicodeScalars.allSatisfy { $0 != " " && $0 != "\"" && $0 != "=" }
    return plain ? escaped(value) : "\"\(escaped(value, quotes: true))\""
  }

  private static func escaped(_ text: String, quotes: Bool = false) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": result.append(contentsOf: "\\n".unicodeScalars)
      case "\r": result.append(contentsOf: "\\r".unicodeScalars)
      case "\t": result.append(contentsOf: "\\t".unicodeScalars)
      case "\"" where quotes: result.append(contentsOf: "\\\"".unicodeScalars)
      case _ where isControl(scalar):
        result.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
      default: result.append(scalar)
      }
    }
    return String(result)
  }

  /// Returns whether a character is C0, DEL, C1, or a mark that changes the direction of text.
  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7f..<0xa0, 0x200e...0x200f, 0x2028...0x202e, 0x2066...0x2069: true
    default: false
    }
  }
}
