/// State that has limits. Its own methods never exceed them.
///
/// A saved copy may have been edited, so the state is checked after it was decoded. Without the
/// check, a forged file could restore a room that needs more memory than a room may, or a counter
/// that overflows with the next event.
package protocol Bounded {
  /// - Throws: ``OutOfBounds``, which names the first part that exceeds its limit.
  /// - Complexity: O(*n*) in the number of elements.
  func checkBounds() throws(OutOfBounds)
}

/// A part of the state exceeds its limit.
package struct OutOfBounds: Error, Equatable, CustomStringConvertible {
  /// The names of the part and of the parts around it, outermost first, joined by dots.
  package private(set) var path: String

  package init(_ path: String) { self.path = path }

  package var description: String { "its '\(path)' exceeds the limits of a room" }

  fileprivate func inside(_ name: String) -> OutOfBounds { OutOfBounds("\(name).\(path)") }
}

extension Bounded {
  package func require(_ isWithin: Bool, _ part: String) throws(OutOfBounds) {
    guard isWithin else { throw OutOfBounds(part) }
  }

  /// Requires counters to be so small that the next events cannot make them overflow.
  package func require(countable counts: Int?..., in part: String) throws(OutOfBounds) {
    try require(counts.allSatisfy { $0?.isCountable ?? true }, part)
  }

  /// Requires timestamps to be so close to 1970 that the difference between two of them cannot
  /// overflow.
  package func require(times: Timestamp?..., in part: String) throws(OutOfBounds) {
    try require(times.allSatisfy { $0?.isCountable ?? true }, part)
  }

  /// Requires names and identifiers to be no longer than events allow.
  package func require(names: String?..., in part: String) throws(OutOfBounds) {
    try require(names.allSatisfy { $0?.utf8.count ?? 0 <= EventLimits.nameLength }, part)
  }

  /// Requires names and identifiers to be no longer than events allow.
  package func require(names: Text?..., in part: String) throws(OutOfBounds) {
    try require(names.allSatisfy { $0?.fits(EventLimits.nameLength) ?? true }, part)
  }

  /// Requires a list of names and identifiers to be no longer than its limit.
  package func require(
    names: some Collection<String>, atMost limit: Int, in part: String
  ) throws(OutOfBounds) {
    try require(names.count <= limit, part)
    for name in names { try require(names: name, in: part) }
  }

  /// Requires a list of names and identifiers to be no longer than its limit.
  package func require(
    names: some Collection<Text>, atMost limit: Int, in part: String
  ) throws(OutOfBounds) {
    try require(names.count <= limit, part)
    for name in names { try require(names: name, in: part) }
  }

  /// Checks a part of the state, unless it is missing.
  package func check(_ part: (some Bounded)?, _ name: String) throws(OutOfBounds) {
    do throws(OutOfBounds) {
      try part?.checkBounds()
    } catch {
      throw error.inside(name)
    }
  }

  /// Checks a list and its elements.
  package func check(
    _ parts: some Collection<some Bounded>, atMost limit: Int, _ name: String
  ) throws(OutOfBounds) {
    try require(parts.count <= limit, name)
    for part in parts { try check(part, name) }
  }
}

extension FixedWidthInteger {
  /// Whether the magnitude is at most 2 to the 53rd, up to which every JSON reader is exact. No
  /// counter of a room and no timestamp in milliseconds becomes so large.
  package var isCountable: Bool { magnitude <= EventLimits.total.upperBound }
}

extension Text {
  /// Whether the text has at most `limit` bytes of UTF-8. The stored form may be longer, because it
  /// may contain escapes.
  package func fits(_ limit: Int) -> Bool { byteCount <= limit || withUTF8 { $0.count } <= limit }
}

// MARK: Events

extension Person: Bounded {
  package func checkBounds() throws(OutOfBounds) { try require(names: id, name, in: "name") }
}

extension ChatMessage: Bounded {
  /// The emotes are limited where they are decoded.
  package func checkBounds() throws(OutOfBounds) {
    try require(names: id, userID, userName, channel, kind, in: "name")
    let texts = [badges, text, replyTo]
    try require(texts.allSatisfy { $0.fits(EventLimits.textLength) }, "text")
  }
}

extension ChatNotice: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try check(user, "user")
    try require(countable: count, in: "count")
    try require(names: group, id, in: "group")
    try check(message, "message")
  }
}

extension ChatModes: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(countable: slowSeconds, followersOnlyMinutes, in: "seconds")
  }
}

extension ChatHighlight: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(times: startedAt, in: "startedAt")
    try require(countable: seconds, messages, busiest, usual, in: "messages")
    try require(names: words, atMost: Self.wordLimit, in: "words")
  }
}

extension Goal: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(title.fits(EventLimits.titleLength), "title")
    try require(countable: count, target, in: "count")
  }
}

extension HypeTrain: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(countable: level, total, progress, goal, in: "level")
    try require(times: endsAt, in: "endsAt")
  }
}

extension Prediction: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(names: id, in: "id")
    try require(title.fits(EventLimits.titleLength), "title")
    try require(names: options, atMost: Self.maximumOptions, in: "options")
    try require(totals.count <= Self.maximumOptions && totals.allSatisfy(\.isCountable), "totals")
    try require(countable: winner, in: "winner")
    try require(times: endsAt, in: "endsAt")
  }
}

extension SourceHealth: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(names: source, platform, reason, in: "source")
    try require(countable: behindMilliseconds, lost, backfilled, duplicate, notShown, in: "lost")
  }
}

extension MissedTime: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(names: source, reason, in: "source")
    try require(times: from, to, in: "from")
  }
}
