import JSON
import LiveEvents

/// Translates a log of Chatterino: lines such as `[20:00:01] name: text`, after a line with the
/// log's first day.
///
/// The log has no identifiers, so they are generated from the day, the line number and the line's
/// content. Reading the same log twice therefore counts each message once.
///
/// Times are in the local time zone of the machine that wrote the log. The abbreviation of the zone
/// may be ambiguous, so the caller supplies the zone unless the log names UTC. The format of times
/// is a setting of Chatterino. If lines have no times, all events have the time at which the log
/// begins.
struct ChatterinoLog: Sendable {
  private static let day = 86_400_000

  /// The zone of times that name no zone.
  private var zone: LogZone
  /// Whether the time of the last line names UTC.
  private var isUTC = false
  /// The day of the last line, in milliseconds since 1970. `nil` until a line names a day.
  private var date: Int?
  /// The time of the last line, in milliseconds since midnight.
  private var last = 0
  private var number = 0
  private var hasTimes = false
  private var recent = RecentMessages()
  /// The gift bomb whose gifts follow: the giver, the group identifier, and the number of remaining
  /// gifts.
  private var bomb: (name: String, group: String, left: Int)?
  /// The reason why the rest of the log cannot be read, if it cannot.
  private(set) var failure: String?

  init(zone: LogZone) { self.zone = zone }

  /// Returns whether a line begins with a time.
  static func isTimed(_ line: some StringProtocol) -> Bool {
    bracketed(channel(line).rest).flatMap { LogTime($0.time) } != nil
  }

  /// Splits off the channel at the start of a line in a log of mentions.
  private static func channel<Line: StringProtocol>(
    _ line: Line
  ) -> (name: String?, rest: Line.SubSequence) {
    guard line.first == "#", let end = line.firstRange(of: " ["),
      !line[..<end.lowerBound].contains(" ")
    else { return (nil, line[...]) }
    return (
      line[..<end.lowerBound].dropFirst().lowercased(), line[line.index(after: end.lowerBound)...]
    )
  }

  /// Splits off the text in brackets at the start of a line.
  private static func bracketed<Line: StringProtocol>(
    _ line: Line
  ) -> (time: Line.SubSequence, rest: Line.SubSequence)? {
    guard line.first == "[", let end = line.firstIndex(of: "]") else { return nil }
    return (line[line.index(after: line.startIndex)..<end], line[line.index(after: end)...])
  }

  mutating func translate(_ line: [UInt8], into lines: inout NativeLines) {
    number += 1
    let text = String(decoding: line, as: UTF8.self).filter { $0 != "\r" && $0 != "\r\n" }
    guard failure == nil, !text.allSatisfy(\.isWhitespace) else { return }
    let (channel, rest) = Self.channel(text)
    if channel == nil, text.hasPrefix("# ") { return begin(text) }
    var words = rest
    if let (time, rest) = Self.bracketed(words) {
      if let time = LogTime(time) {
        advance(to: time)
        words = rest
      } else if hasTimes {
        lines.count(unknown: "a time in the format of line \(number)")
        words = rest
      } else {
        failure =
          "line \(number) begins with '[\(time.prefix(40))]', which is not a time; "
          + "the supported formats are \(LogTime.formats)"
        return
      }
    } else if hasTimes {
      lines.count(unknown: "no time")
    }
    // Archives of many channels put the channel after the time.
    words = words.drop(while: \.isWhitespace)
    var room = channel
    if hasTimes, room == nil, words.first == "#" {
      room = words.dropFirst().prefix { $0 != " " }.lowercased()
      words = words.drop { $0 != " " }.drop(while: \.isWhitespace)
    }
    process(words, room: room?.channelRoom, &lines)
  }

  private mutating func begin(_ text: String) {
    let prefix = "# Start logging at "
    guard text.hasPrefix(prefix) else { return }
    let words = text.dropFirst(prefix.count).split(separator: " ")
    if let name = words.last, ["UTC", "GMT"].contains(name) { zone = .utc }
    guard let time = LogTime(words.prefix(2).joined(separator: " ")), let day = time.day else {
      return
    }
    (date, last) = (day * Self.day, time.milliseconds)
  }

  private mutating func advance(to time: LogTime) {
    hasTimes = true
    isUTC = time.hasZone
    if let day = time.day {
      date = day * Self.day
    } else if time.milliseconds < last - Self.day / 2, let date {
      // A log may continue after midnight.
      self.date = date + Self.day
    }
    last = time.milliseconds
  }

  /// The time of the last line, in milliseconds since 1970.
  private var now: Int? {
    guard let local = date.map({ $0 + last }), !isUTC else { return date.map { $0 + last } }
    return local - zone.secondsFromUTC(local / 1_000) * 1_000
  }

  /// Returns an identifier generated from the line's content.
  private func identifier(_ words: some StringProtocol) -> String {
    "chatterino-\((date ?? 0) / Self.day)-\(number)-\(StableHash.hex(String(words)))"
  }

  private mutating func process(_ words: Substring, room: String?, _ lines: inout NativeLines) {
    if let (author, text, isAction) = Self.quoted(words) {
      return message(author, text, isAction: isAction, words, room: room, &lines)
    }
    guard let colon = words.firstIndex(of: ":"), let author = Self.author(words[..<colon]) else {
      return system(ChatterinoSentence(words), words, room: room, &lines)
    }
    let text = words[words.index(after: colon)...].drop { $0 == " " }
    // Older versions write a moderator's name before an action, in the same form as before a
    // message.
    if let first = text.split(separator: " ").first, first.lowercased() == author.login {
      let sentence = ChatterinoSentence(text)
      switch sentence {
      case .timeout, .clear, .redemption:
        return system(sentence, text, room: room, &lines)
      default: break
      }
    }
    message(author, text, isAction: false, words, room: room, &lines)
  }

  private mutating func message(
    _ author: (login: String, shown: String), _ text: Substring, isAction: Bool,
    _ words: Substring, room: String?, _ lines: inout NativeLines
  ) {
    let id = identifier(words)
    recent.append(login: author.login, text: String(text), id: id)
    let fitting = lines.fitting(String(text))
    lines.add("chat.message", room: room, at: now) {
      $0.add("id", id)
      if let user = PlatformUser(id: author.login, name: author.shown) { $0.add(user: user) }
      $0.add("text", fitting)
      if isAction { $0.add("action", true) }
    }
  }

  /// Splits a message in the form of IRC clients and proxies: `<ada> hello`, or `* ada waves`.
  private static func quoted(
    _ words: Substring
  ) -> (author: (login: String, shown: String), text: Substring, isAction: Bool)? {
    let isAction = words.hasPrefix("* ")
    guard isAction || words.first == "<" else { return nil }
    let rest = words.dropFirst(isAction ? 2 : 1)
    guard let end = rest.firstIndex(of: isAction ? " " : ">") else { return nil }
    // Moderators have a sign before their name.
    let name = rest[..<end].drop { "@+%~& ".contains($0) }
    guard let author = Self.author(name) else { return nil }
    return (author, rest[rest.index(after: end)...].drop { $0 == " " }, isAction)
  }

  /// Returns the author: a name, or a displayed name followed by a login if their letters differ.
  private static func author(_ text: Substring) -> (login: String, shown: String)? {
    let words = text.split(separator: " ")
    guard (1...2).contains(words.count), let login = words.last,
      text.utf8.count <= 200,
      login.allSatisfy({ $0.isLetter || $0.isNumber || "_-.".contains($0) }),
      words.count == 1 || login.allSatisfy(\.isASCII),
      words[0].first.map({ $0.isLetter || $0.isNumber || $0 == "_" }) == true,
      !["AutoMod", "automod", "Suspicious"].contains(words[0])
    else { return nil }
    return (login.lowercased(), String(words[0]))
  }

  private mutating func system(
    _ sentence: ChatterinoSentence, _ words: Substring, room: String?, _ lines: inout NativeLines
  ) {
    let time = now
    switch sentence {
    case .clear: lines.add("chat.clear", room: room, at: time) { _ in }
    case .timeout(let login, let seconds):
      guard let user = PlatformUser(id: login, name: login) else { return }
      lines.add("chat.timeout", room: room, at: time) {
        $0.add(user: user)
        $0.add("seconds", seconds)
      }
    case .delete(let login, let beginning):
      guard let id = recent.id(login: login, beginning: beginning) else {
        return lines.count(unknown: "deletion of a message that is not in the log")
      }
      lines.add("chat.delete", room: room, at: time) { $0.add("id", id) }
    case .stream(let isLive):
      lines.add("stream", room: room, at: time) { $0.add("state", isLive ? "live" : "ended") }
    case .notice(let kind, let name, let count):
      guard let user = PlatformUser(id: name.lowercased(), name: name) else { return }
      let id = identifier(words)
      let group = group(kind, user.id, count, id)
      lines.add("chat.notice", room: room, at: time) {
        $0.add("id", id)
        $0.add("kind", kind)
        $0.add(user: user)
        $0.add("count", count)
        $0.add("group", group)
      }
    case .redemption(let name, let title, let cost):
      guard let user = PlatformUser(id: name.lowercased(), name: name) else { return }
      let id = identifier(words)
      lines.add("redemption", room: room, at: time) {
        $0.add("id", id)
        $0.add(user: user)
        $0.add(title: title)
        $0.add("cost", cost)
      }
    case .nothing: break
    case .other(let kind): lines.count(unknown: kind)
    }
  }

  /// Returns the identifier that a gift bomb shares with its gifts.
  private mutating func group(_ kind: String, _ name: String, _ count: Int, _ id: String) -> String?
  {
    if kind == "giftBomb" {
      bomb = (name, id, count)
    } else if kind != "gift" || bomb?.name != name || bomb?.left == 0 {
      return nil
    } else {
      bomb?.left -= 1
    }
    return bomb?.group
  }
}

/// The most recent messages of a log, in which a deleted message is found by its text.
private struct RecentMessages: Sendable {
  private static let limit = 500

  private var messages: [(login: String, text: String, id: String)] = []

  mutating func append(login: String, text: String, id: String) {
    if messages.count == 2 * Self.limit { messages.removeFirst(Self.limit) }
    messages.append((login, text, id))
  }

  /// Returns the identifier of the author's newest message that begins with a text. A shortened
  /// text ends with `…`.
  func id(login: String, beginning: String) -> String? {
    let beginning = beginning.hasSuffix("…") ? String(beginning.dropLast()) : beginning
    return messages.last { $0.login == login && $0.text.utf8.starts(with: beginning.utf8) }?.id
  }
}
