import JSON
import LiveEvents

/// The native lines that a translation produces, with counts of the untranslated kinds and values.
package struct NativeLines: Sendable {
  /// The lines with their line endings.
  package var bytes: [UInt8] = []
  /// The platform to name in the next lines. `nil` if the sender of the lines names it.
  var platform: String?
  package private(set) var lines = 0
  /// The number of events of each unknown kind, since platforms add kinds without notice.
  package private(set) var unknown: [String: Int] = [:]
  private static let maximumKinds = 64

  package init(platform: String? = nil) { self.platform = platform }

  package mutating func count(unknown kind: String) {
    let kind = kind.clipped(to: 80)
    let isListed = unknown.count < Self.maximumKinds || unknown[kind] != nil
    unknown[isListed ? kind : "others", default: 0] += 1
  }

  private static let unusablePrefix = "value of "

  /// Counts a member with an unusable value.
  mutating func count(unusable member: String) { count(unknown: Self.unusablePrefix + member) }

  /// Counts the members of a value that do not have the form that `shape` requires.
  mutating func count(misfitsOf value: JSONValue?, _ shape: JSONShape, named name: String = "item")
  {
    for name in shape.misfits(of: value, named: name) { count(unusable: name) }
  }

  /// Returns a text truncated to the size that fits into a line. Counts the truncation.
  mutating func fitting(_ text: String) -> String {
    let escapes = text.utf8.contains { $0 < 0x20 || $0 == 0x7F || $0 == 0x22 || $0 == 0x5C }
    // An escape takes up to six bytes.
    let fitting = text.clipped(to: escapes ? 10_000 : 60_000)
    if fitting.utf8.count < text.utf8.count { count(unknown: "end of a text that is too long") }
    return fitting
  }

  /// The number of events of which nothing was shown.
  package var notShown: Int {
    unknown.reduce(0) { $1.key.hasPrefix(Self.unusablePrefix) ? $0 : $0 + $1.value }
  }

  /// A human-readable remark about the events that were not shown and the values that were ignored,
  /// if any.
  package var remark: String? {
    func counts(unusable isUnusable: Bool) -> String {
      unknown.filter { $0.key.hasPrefix(Self.unusablePrefix) == isUnusable }
        .sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        .map {
          "\($0.value) \(isUnusable ? String($0.key.dropFirst(Self.unusablePrefix.count)) : $0.key)"
        }
        .joined(separator: ", ")
    }
    let (missing, unusable) = (counts(unusable: false), counts(unusable: true))
    let parts = [
      missing.isEmpty ? nil : "not shown: \(missing)",
      unusable.isEmpty ? nil : "unusable values ignored: \(unusable)",
    ].compactMap { $0 }
    // The daemon rejects longer remarks.
    return parts.isEmpty ? nil : parts.joined(separator: "; ").clipped
  }

  /// Adds a line. If `room` is `nil`, the line names no room. `time` is in milliseconds since 1970,
  /// or `nil` if unknown.
  mutating func add(
    _ type: String, room: String?, at time: Int?, _ body: (inout NativeLine) -> Void
  ) {
    var cut: [String] = []
    JSONWriter.append(to: &bytes) { writer in
      writer.appendObject(type: type) { object in
        object.add("room", room)
        object.add(
          "ts", time.flatMap { EventLimits.timestamps.contains(Timestamp($0)) ? $0 : nil })
        var line = NativeLine(&object)
        body(&line)
        cut = line.end(&object)
        object.add("platform", platform)
      }
    }
    bytes.append(0x0A)
    lines += 1
    for member in cut { count(unusable: member) }
  }
}

/// A person as a platform identifies them.
struct PlatformUser {
  var id: String
  var name: String
  /// The badges, such as `moderator/1,subscriber/6`.
  var badges = ""
  var color: NameColor?

  /// The author of a message that names no author.
  static let unknown = PlatformUser(known: "unknown")

  private init(known name: String) { (id, self.name) = (name, name) }

  /// Creates a person, or returns `nil` if there is no identifier.
  init?(id: String?, name: String?, badges: String = "", color: String? = nil) {
    guard let id, !id.isEmpty else { return nil }
    self.id = id
    self.name = name.flatMap { $0.isEmpty ? nil : $0 } ?? id
    self.badges = badges
    self.color = color.flatMap { NameColor($0) }
  }
}

extension String {
  /// The text truncated to the maximum length of a name.
  package var clipped: String { clipped(to: EventLimits.nameLength) }

  /// Returns the longest prefix of whole scalars that has at most `limit` bytes.
  package func clipped(to limit: Int) -> String {
    guard utf8.count > limit else { return self }
    var text = String.UnicodeScalarView()
    var length = 0
    for scalar in unicodeScalars {
      length += UTF8.width(scalar)
      guard length <= limit else { break }
      text.append(scalar)
    }
    return String(text)
  }

  /// The room of the channel with this name, or `nil` if the name is not a valid room name.
  var channelRoom: String? { RoomName(lowercased())?.description }

  /// The first number in the text. For example, `Gifted 1,000 memberships` gives 1000.
  var firstNumber: Int? {
    let digits = drop { !$0.isASCII || !$0.isNumber }
      .prefix { ($0.isASCII && $0.isNumber) || $0 == "," || $0 == "." }
      .filter(\.isNumber)
    return Int(digits)
  }
}

extension JSONValue {
  /// Returns a member's text, or `nil` if it is absent or empty.
  func text(_ name: String) -> String? {
    self[name]?.stringValue.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Returns a member's text for comparison with known words, or `nil` if it is absent or empty.
  func word(_ name: String) -> String? { self[name]?.word().flatMap { $0.isEmpty ? nil : $0 } }

  /// Returns a member's count, written as a number or as text, and at most the limit of counts.
  func count(_ name: String) -> Int? {
    guard let value = self[name]?.looseNumber, value >= 0 else { return nil }
    return Int(min(value, Double(EventLimits.count.upperBound)))
  }

  /// Returns a member's text, or its integer as text. Programs write identifiers as either.
  func anyText(_ name: String) -> String? {
    if case .integer(let number)? = self[name] { return String(number) }
    return text(name)
  }

  /// Reads a member that contains a duration in seconds, possibly fractional or negative. Returns
  /// the duration in milliseconds.
  func milliseconds(_ name: String) -> Int? {
    let seconds: Double
    switch self[name] {
    case .integer(let integer)?: seconds = Double(integer)
    case .number(let number)?: seconds = number
    default: return nil
    }
    return seconds.magnitude < 9e15 ? Int((seconds * 1_000).rounded()) : nil
  }

  /// Reads a member that contains a time in RFC 3339 form. Returns the time in milliseconds since
  /// 1970. With `orUTC`, a time without a zone is accepted as UTC.
  func time(_ name: String, orUTC: Bool = false) -> Int? {
    self[name]?.stringValue.flatMap { PlatformTime.milliseconds($0, orUTC: orUTC) }
  }
}

/// A hash with the same result in every run, for generating identifiers.
enum StableHash {
  /// Returns the FNV-1a hash of the texts, as 16 hexadecimal digits.
  static func hex(_ texts: String...) -> String {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in texts.joined(separator: "\u{0}").utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
    }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

/// Parses the times that platforms write.
package enum PlatformTime {
  package static func milliseconds(_ text: String) -> Int? { milliseconds(text, orUTC: false) }

  /// Parses `2026-11-23T20:00:00.123456789Z`, or a time with an offset such as `+01:00`. With
  /// `orUTC`, a time without a zone is accepted as UTC. Returns milliseconds since 1970, or `nil`
  /// for any other text.
  package static func milliseconds(_ text: String, orUTC: Bool) -> Int? {
    let bytes = Array(text.utf8)
    func number(_ range: Range<Int>) -> Int? {
      guard range.upperBound <= bytes.count else { return nil }
      return bytes[range].reduce(0 as Int?) { sum, byte in
        guard let sum, (0x30...0x39).contains(byte) else { return nil }
        return sum * 10 + Int(byte - 0x30)
      }
    }
    guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
      let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
      year >= 1970, (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60,
      second <= 60
    else { return nil }
    var rest = bytes[19...]
    var fraction = 0
    if rest.first == UInt8(ascii: ".") || rest.first == UInt8(ascii: ",") {
      let digits = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
      fraction = (digits + [0x30, 0x30, 0x30]).prefix(3).reduce(0) { $0 * 10 + Int($1 - 0x30) }
      rest = rest.dropFirst(1 + digits.count)
    }
    var offset = 0
    if let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
      let start = rest.startIndex
      guard let hours = number((start + 1)..<(start + 3)),
        let minutes = number((start + 4)..<(start + 6))
      else { return nil }
      offset = (hours * 60 + minutes) * (sign == UInt8(ascii: "+") ? 60 : -60)
    } else if rest.first.map({ $0 | 0x20 }) != UInt8(ascii: "z"), !(orUTC && rest.isEmpty) {
      return nil
    }
    let seconds =
      days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset
    return seconds < 0 ? nil : seconds * 1_000 + fraction
  }

  /// Returns the days since 1970 in the Gregorian calendar. In this computation, years begin in
  /// March, so that a leap day is the last day of its year.
  static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let yearDay = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return year * 365 + year / 4 - year / 100 + year / 400 + yearDay - 719_468
  }
}
