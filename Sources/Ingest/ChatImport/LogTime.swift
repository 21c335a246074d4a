/// The time at the beginning of a line of a chat log, such as `20:00:01.123`, `8:00 PM` or
/// `2026-11-20 20:00:01`.
struct LogTime: Equatable {
  static let formats = "HH:mm, HH:mm:ss, either with .zzz and AM or PM, or these after yyyy-MM-dd"

  /// The days since 1970, or `nil` if the line names no day.
  var day: Int?
  /// The milliseconds since midnight, in UTC if the line names a zone and otherwise in the log's
  /// zone.
  var milliseconds: Int
  /// Whether the line names a zone.
  var hasZone: Bool

  /// Parses a time. Returns `nil` for any other text.
  init?(_ text: some StringProtocol) {
    var rest = Scanner(Array(text.utf8))
    rest.skipBlanks()
    if let (year, month, dayOfMonth) = rest.date() {
      guard year >= 1970, (1...12).contains(month), (1...31).contains(dayOfMonth) else {
        return nil
      }
      day = PlatformTime.days(year, month, dayOfMonth)
      _ = rest.consume("T") || rest.consume("t")
      rest.skipBlanks()
    }
    guard var hour = rest.number(digits: 1...2), rest.consume(":"),
      let minute = rest.number(digits: 2...2), hour < 24, minute < 60
    else { return nil }
    var (second, fraction) = (0, 0)
    if rest.consume(":") {
      guard let number = rest.number(digits: 2...2), number <= 60 else { return nil }
      second = number
      if rest.consume(".") || rest.consume(",") {
        guard let number = rest.fraction() else { return nil }
        fraction = number
      }
    }
    rest.skipBlanks()
    if let isAfternoon = rest.halfOfDay() {
      guard (1...12).contains(hour) else { return nil }
      hour = hour % 12 + (isAfternoon ? 12 : 0)
    }
    rest.skipBlanks()
    hasZone = !rest.isAtEnd
    guard let offset = rest.zone(), rest.isAtEnd else { return nil }
    milliseconds = ((hour * 60 + minute - offset) * 60 + second) * 1_000 + fraction
  }

  /// Parses the parts of a time in order.
  private struct Scanner {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    var isAtEnd: Bool { bytes.isEmpty }

    mutating func consume(_ text: String) -> Bool {
      guard bytes.starts(with: text.utf8) else { return false }
      bytes = bytes.dropFirst(text.utf8.count)
      return true
    }

    /// Skips blanks, including the narrow no-break space that Qt writes before AM or PM in some
    /// languages.
    mutating func skipBlanks() {
      while consume(" ") || consume("\u{A0}") || consume("\u{202F}") {}
    }

    mutating func number(digits: ClosedRange<Int>) -> Int? {
      let found = bytes.prefix(digits.upperBound).prefix { (0x30...0x39).contains($0) }
      guard found.count >= digits.lowerBound else { return nil }
      bytes = bytes.dropFirst(found.count)
      return found.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    mutating func date() -> (Int, Int, Int)? {
      let start = bytes
      if let year = number(digits: 4...4), consume("-"), let month = number(digits: 2...2),
        consume("-"),
        let day = number(digits: 2...2)
      {
        return (year, month, day)
      }
      bytes = start
      return nil
    }

    /// Parses a fraction of a second. Returns the fraction in milliseconds.
    mutating func fraction() -> Int? {
      let digits = bytes.prefix { (0x30...0x39).contains($0) }
      guard (1...9).contains(digits.count) else { return nil }
      bytes = bytes.dropFirst(digits.count)
      return (digits + [0x30, 0x30]).prefix(3).reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// Returns whether the time is PM, or `nil` if it names neither AM nor PM.
    mutating func halfOfDay() -> Bool? {
      for (text, isAfternoon) in [("a", false), ("p", true)] {
        for half in [text + "m", text + ".m.", text.uppercased() + "M", text.uppercased() + ".M."]
        where consume(half) { return isAfternoon }
      }
      return nil
    }

    /// Returns the zone's offset from UTC in minutes, or 0 at the end of the text. Returns `nil` if
    /// the rest is not a valid zone.
    mutating func zone() -> Int? {
      if isAtEnd || consume("Z") || consume("UTC") || consume("GMT") { return 0 }
      let sign = consume("+") ? 1 : consume("-") ? -1 : 0
      guard sign != 0, let hours = number(digits: 2...2) else { return nil }
      _ = consume(":")
      let minutes = isAtEnd ? 0 : number(digits: 2...2)
      return minutes.map { sign * (hours * 60 + $0) }
    }
  }
}
