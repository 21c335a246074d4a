package import LiveEvents

/// Finds the highlights of a running or recorded chat: the times in which it was busier than
/// before, and the words that mark them.
///
/// The result depends only on the messages and their order, not on how they are divided into
/// batches.
package struct HighlightFinder: Sendable {
  /// The memory of a finder, in bytes.
  package static let memory = PeakFinder.memory + WordCounts.memory

  private var peaks = PeakFinder()
  private var words = WordCounts()
  /// The newest peak in all seconds, and the newest peak outside of the provisional seconds (see
  /// ``PeakFinder``).
  private var newest: Peak?
  private var settled: Peak?
  /// The highlights that were found since the last call of ``removeFound()``.
  private var found = HighlightTimeline()

  package init() {}

  /// Adds a message. Returns whether this may have taken long.
  mutating func add(_ text: UnsafeBufferPointer<UInt8>, at time: Timestamp) -> Bool {
    let second = time >= 0 ? time / 1_000 : (time + 1) / 1_000 - 1
    let isNext = peaks.add(second)
    if isNext { search(atEnd: false) }
    words.add(text, at: second)
    return isNext
  }

  /// Searches the completed seconds.
  private mutating func search(atEnd: Bool) {
    words.age()
    if let peak = peaks.settledPeak, peak != settled {
      settled = peak
      if peak.first != newest?.first { add(peak) }
    }
    if let peak = peaks.newestPeak(atEnd: atEnd).peak, peak != newest {
      newest = peak
      add(peak)
    }
  }

  private mutating func add(_ peak: Peak) {
    found.note(
      ChatHighlight(
        startedAt: peak.first * 1_000, seconds: Int(peak.last - peak.first + 1),
        messages: peak.messages, busiest: peak.busiest, usual: Int(peak.usual.rounded()),
        words: words.marks(from: peak.first, through: peak.last)))
  }

  /// Returns the highlights that were found or changed since the last call, oldest first.
  mutating func removeFound() -> [ChatHighlight] {
    guard !found.entries.isEmpty else { return [] }
    let entries = found.entries
    found = HighlightTimeline()
    return entries
  }

  /// Searches the newest second, which ends the chat. Returns the time that comes closest to a
  /// highlight.
  mutating func end() -> Peak? {
    search(atEnd: true)
    return peaks.newestPeak(atEnd: true).busiest
  }
}

/// The highlights of a chat, oldest first.
package struct HighlightTimeline: Equatable, Sendable, Codable {
  /// The number of highlights that a running chat keeps.
  package static let limit = ChatFindings.highlightLimit

  package private(set) var entries: [ChatHighlight] = []
  /// The number of all highlights so far.
  package private(set) var total = 0

  package init() {}

  /// Adds a highlight. If it overlaps a known highlight, it is a newer version of that highlight,
  /// and replaces it.
  package mutating func note(_ highlight: ChatHighlight, limit: Int = Self.limit) {
    guard let index = entries.lastIndex(where: { $0.overlaps(highlight) }) else {
      total += 1
      let end = entries.lastIndex { $0.startedAt < highlight.startedAt }.map { $0 + 1 } ?? 0
      entries.insert(highlight, at: end)
      if entries.count > limit { entries.removeFirst() }
      return
    }
    let words = entries[index].words
    entries[index] = highlight
    if highlight.words.isEmpty { entries[index].words = words }
  }

  /// Returns the newest highlights with their numbers. The number of a highlight never changes.
  package func numbered(last count: Int) -> [(number: Int, highlight: ChatHighlight)] {
    entries.indices.suffix(count).map { (total - entries.count + $0 + 1, entries[$0]) }
  }

  /// Removes all words for which `isKept` returns `false`.
  package mutating func keepWords(where isKept: (ChatHighlight, Text) -> Bool) {
    for index in entries.indices {
      let entry = entries[index]
      let words = entry.words.filter { isKept(entry, $0) }
      if words.count < entry.words.count { entries[index].words = words }
    }
  }
}

extension ChatHighlight {
  fileprivate func overlaps(_ other: ChatHighlight) -> Bool {
    startedAt < other.endedAt && other.startedAt < endedAt
  }
}

extension HighlightTimeline: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try check(entries, atMost: Self.limit, "entries")
    try require(countable: total, in: "total")
  }
}
