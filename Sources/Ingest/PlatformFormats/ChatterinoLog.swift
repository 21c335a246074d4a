import JSON
import LiveEvents

/// A log of Chatterino: `[20:00:01] name: text`, below a line with the day on which it begins.
///
/// It has no identifiers; they are made of the day and the number of the line, so that the same log read twice
/// counts once. Its times are taken as UTC, since it names zones only by letters.
struct ChatterinoLog: Sendable {
  private static let day = 86_400_000

  /// The day of the last line, and the time of it.
  private var date = 0
  private var last = 0
  private var number = 0

  /// Whether a line begins with a time.
  static func isTimed(_ line: some StringProtocol) -> Bool { time(of: line) != nil }

  /// Milliseconds since midnight, and what follows the time.
  private static func time<Line: StringProtocol>(
    of line: Line
  ) -> (milliseconds: Int, rest: Line.SubSequence)? {
    guard line.first == "[", let end = line.firstIndex(of: "]") else { return nil }
    let parts = line[line.index(after: line.startIndex)..<end].split(
      separator: ":", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { $0.count == 2 ? Int($0) : nil }
    guard parts.count == 3, numbers.count == 3, (0..<24).contains(numbers[0]),
      (0..<60).contains(numbers[1]), (0...60).contains(numbers[2])
    else { return nil }
    return (
      (numbers[0] * 3_600 + numbers[1] * 60 + numbers[2]) * 1_000, line[line.index(after: end)...]
    )
  }

  mutating func translate(_ line: [UInt8], into lines: inout NativeLines) {
    let text = String(decoding: line, as: UTF8.self)
    number += 1
    guard !text.allSatisfy(\.isWhitespace) else { return }
    if text.hasPrefix("#") { return begin(text) }
    guard let (time, rest) = Self.time(of: text) else { return lines.note(unknown: "no time") }
    // A log may go on behind midnight.
    if time < last - Self.day / 2 { date += Self.day }
    last = time
    let words = rest.drop(while: \.isWhitespace)
    if let colon = words.firstIndex(of: ":"), let name = Self.author(words[..<colon]) {
      let message = words[words.index(after: colon)...].drop { $0 == " " }
      lines.add("chat.message", room: nil, at: date + time) {
        $0.add("id", "chatterino-\(date / Self.day)-\(number)")
        if let user = PlatformUser(id: name.login, name: name.shown) { $0.add(user: user) }
        $0.add("text", String(message.filter { $0 != "\r" }))
      }
    } else {
      system(words, at: date + time, &lines)
    }
  }

  private mutating func begin(_ text: String) {
    let prefix = "# Start logging at "
    guard text.hasPrefix(prefix),
      let midnight = PlatformTime.milliseconds(
        String(text.dropFirst(prefix.count).prefix(10)) + "T00:00:00Z")
    else { return }
    date = midnight
    last = 0
  }

  /// Who wrote: a login name, perhaps behind the name to show, which has other letters.
  private static func author(_ text: Substring) -> (login: String, shown: String)? {
    let words = text.split(separator: " ")
    guard (1...2).contains(words.count), let login = words.last?.lowercased(),
      (1...25).contains(login.count),
      login.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") })
    else { return nil }
    return (login, String(words[0]))
  }

  /// What Chatterino itself writes.
  private func system(_ words: Substring, at time: Int, _ lines: inout NativeLines) {
    let parts = words.split(separator: " ")
    func isAbout(_ phrase: String) -> Bool {
      parts.count > 1 && parts.dropFirst().joined(separator: " ").hasPrefix(phrase)
    }
    let user = PlatformUser(
      id: parts.first?.lowercased(), name: parts.first.map { String($0) })
    if words.hasPrefix("Chat has been cleared by a moderator") {
      lines.add("chat.clear", room: nil, at: time) { _ in }
    } else if isAbout("has been timed out for"), let user {
      let seconds = parts.dropFirst(6).compactMap { Self.seconds($0.filter { $0 != "." }) }
      lines.add("chat.timeout", room: nil, at: time) {
        $0.add(user: user)
        $0.add("seconds", min(seconds.reduce(0, +), EventLimits.count.upperBound))
      }
    } else if isAbout("has been permanently banned"), let user {
      lines.add("chat.timeout", room: nil, at: time) { $0.add(user: user) }
    } else if words.contains("is live!") || isAbout("is live") {
      lines.add("stream", room: nil, at: time) { $0.add("state", "live") }
    } else if isAbout("is now offline") || isAbout("is offline") {
      lines.add("stream", room: nil, at: time) { $0.add("state", "ended") }
    } else {
      lines.note(unknown: "system message")
    }
  }

  /// `10m`, `1h`, `30s`, `2d`; `nil` for any other word.
  private static func seconds(_ word: some StringProtocol) -> Int? {
    guard let unit = word.last, let count = Int(word.dropLast()), (0...1_000_000).contains(count)
    else { return nil }
    switch unit {
    case "s": return count
    case "m": return count * 60
    case "h": return count * 3_600
    case "d": return count * 86_400
    case "w": return count * 604_800
    default: return nil
    }
  }
}
