import LiveEvents

/// A log entry of Chatterino other than a message. The sentences come from Chatterino's
/// `MessageBuilder` and its EventSub messages, which only moderators receive.
enum ChatterinoSentence: Equatable {
  case clear
  /// A time-out, or a ban if `seconds` is `nil`.
  case timeout(login: String, seconds: Int?)
  /// A deleted message. If it is long, only its beginning is quoted.
  case delete(login: String, beginning: String)
  case stream(isLive: Bool)
  case notice(kind: String, name: String, count: Int)
  case redemption(name: String, title: String, cost: Int)
  /// A heading or the state of the connection, which is dropped.
  case nothing
  /// A sentence that is counted by its kind and not shown.
  case other(kind: String)

  private static let silent: Set<String> = [
    "connected", "disconnected", "reconnected", "joined channel", "Announcement",
    "Connected", "Disconnected", "Reconnected",
  ]
  private static let kinds: [(phrase: String, kind: String)] = [
    ("unbanned", "unban"), ("untimedout", "unban"), ("warned", "warning"), ("modded", "moderator"),
    ("unmodded", "moderator"), ("as a VIP", "VIP"), ("mode.", "chat mode"), ("raid", "raid"),
    ("AutoMod", "AutoMod"), ("Suspicious User", "suspicious user"),
    ("suspicious", "suspicious user"), ("watch streak", "watch streak"),
    ("moderator for", "moderator"),
    ("emote", "emotes"), ("inned", "pin"),
  ]

  init(_ sentence: some StringProtocol) {
    let words = Self.withoutCount(sentence).split(separator: " ").map(String.init)
    let text = words.joined(separator: " ")
    let rest = words.dropFirst().joined(separator: " ")
    if Self.silent.contains(text) {
      self = .nothing
    } else if text.hasPrefix("Chat has been cleared") || rest.hasPrefix("cleared the chat") {
      self = .clear
    } else if let known = Self.moderation(words, rest) ?? Self.activity(words, rest) {
      self = known
    } else {
      let kind = Self.kinds.first { text.contains($0.phrase) }?.kind
      self = .other(kind: kind ?? "system message")
    }
  }

  /// The maximum length of a sentence that quotes no message.
  private static let longest = 2_000

  /// Removes a suffix such as `(3 times)`, which marks repetitions.
  private static func withoutCount(_ sentence: some StringProtocol) -> String {
    let text = String(sentence).clipped(to: longest)
    guard text.hasSuffix(" times)"), let start = text.lastIndex(of: "(") else { return text }
    return String(text[..<start])
  }

  /// Recognises an action of a moderator. The sentences are `ada has been timed out for 10m.`, `mod
  /// timed out ada for 10m: spam`, `mod banned ada.`, `A message from ada was deleted: hi` and `mod
  /// deleted message from ada saying: hi`.
  private static func moderation(_ words: [String], _ rest: String) -> Self? {
    if rest.hasPrefix("has been timed out") {
      return .timeout(login: words[0].lowercased(), seconds: seconds(words.dropFirst(5)))
    }
    if rest.hasPrefix("has been permanently banned") || rest.hasPrefix("has been banned") {
      return .timeout(login: words[0].lowercased(), seconds: nil)
    }
    if rest.hasPrefix("timed out "), words.count > 3, let login = login(words[3]) {
      return .timeout(login: login, seconds: seconds(words.dropFirst(4)))
    }
    if rest.hasPrefix("banned "), let login = login(words[2]) {
      return .timeout(login: login, seconds: nil)
    }
    if rest.hasPrefix("message from "), let end = rest.firstRange(of: " was deleted: ") {
      return .delete(login: words[3].lowercased(), beginning: String(rest[end.upperBound...]))
    }
    if rest.hasPrefix("deleted message from "), let end = rest.firstRange(of: " saying: ") {
      return .delete(login: words[4].lowercased(), beginning: String(rest[end.upperBound...]))
    }
    return nil
  }

  /// Recognises Twitch's English sentences about the stream and its viewers.
  private static func activity(_ words: [String], _ rest: String) -> Self? {
    if rest.hasPrefix("is live") { return .stream(isLive: true) }
    if rest.hasPrefix("is now offline") || rest.hasPrefix("is offline")
      || rest.hasPrefix("has gone offline")
    {
      return .stream(isLive: false)
    }
    if rest.hasPrefix("raiders from "), words.count > 3, let count = words[0].firstNumber {
      return .notice(kind: "raid", name: words[3], count: count)
    }
    guard let name = words.first else { return nil }
    if rest.hasPrefix("subscribed ") || rest.hasPrefix("just subscribed ") {
      let months = rest.firstRange(of: "subscribed for ").flatMap {
        String(rest[$0.upperBound...]).firstNumber
      }
      return .notice(
        kind: months ?? 1 > 1 ? "resubscribe" : "subscribe", name: name, count: months ?? 1)
    }
    if rest.hasPrefix("is gifting "), let count = words.dropFirst(3).first?.firstNumber {
      return .notice(kind: "giftBomb", name: name, count: count)
    }
    if rest.hasPrefix("gifted "), rest.contains(" sub to ") {
      return .notice(kind: "gift", name: name, count: 1)
    }
    let reward = words.last == "bits" ? words.dropLast() : words[...]
    if words.count > 3, words[1] == "redeemed", let cost = reward.last.flatMap({ Int($0) }) {
      return .redemption(
        name: name, title: reward[2..<(reward.endIndex - 1)].joined(separator: " "),
        cost: max(0, cost))
    }
    return nil
  }

  /// Returns a login without the punctuation after it.
  private static func login(_ word: String) -> String? {
    let login = word.last == ":" || word.last == "." ? String(word.dropLast()) : word
    return login.isEmpty ? nil : login.lowercased()
  }

  /// Returns the sum of durations such as `1h 10m:`, or `nil` if there are none.
  private static func seconds(_ words: ArraySlice<String>) -> Int? {
    let start = words.firstIndex(of: "for").map { $0 + 1 } ?? words.startIndex
    var sum: Int?
    let rest = words[start...]
    // Archives write durations such as `600 seconds`.
    if let seconds = rest.first.flatMap({ Int($0) }), seconds >= 0,
      rest.dropFirst().first?.hasPrefix("second") == true
    {
      return min(seconds, EventLimits.count.upperBound)
    }
    for word in rest {
      let isLast = word.last == "." || word.last == ":"
      guard let seconds = duration(isLast ? word.dropLast() : word[...]) else { break }
      sum = min((sum ?? 0) + seconds, EventLimits.count.upperBound)
      if isLast { break }
    }
    return sum
  }

  /// Returns the seconds of a duration such as `10m`, `1h`, `30s`, `2d` or `1w`, or `nil` for any
  /// other word.
  private static func duration(_ word: Substring) -> Int? {
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
