package import LiveEvents

/// Finds the highlights of a chat, running or recorded: when it was busier than before, and which
/// words mark that time.
///
/// What it finds depends on the messages and their order only, not on how many of them are looked
/// at in one go.
package struct HighlightFinder: Sendable {
  /// In bytes.
  package static let memory = PeakFinder.memory + WordCounts.memory

  private var peaks = PeakFinder()
  private var words = WordCounts()
  /// The peaks that were found last.
  private var newest: Peak?
  private var settled: Peak?
  /// What was found since it was last taken.
  private var found = HighlightTimeline()

  package init() {}

  /// Looks at a message. Returns whether it did more than counting, so that it is time to look at
  /// the clock.
  mutating func add(_ text: UnsafeBufferPointer<UInt8>, at time: Timestamp) -> Bool {
    let second = time >= 0 ? time / 1_000 : (time + 1) / 1_000 - 1
    let isNext = peaks.add(second)
    if isNext { look(atEnd: false) }
    words.add(text, at: second)
    return isNext
  }

  /// Looks at the seconds that are over.
  private mutating func look(atEnd: Bool) {
    words.age()
    if let peak = peaks.settledPeak, peak != settled {
      settled = peak
      if peak.first != newest?.first { note(peak) }
    }
    if let peak = peaks.newestPeak(atEnd: atEnd).peak, peak != newest {
      newest = peak
      note(peak)
    }
  }

  private mutating func note(_ peak: Peak) {
    found.note(
      ChatHighlight(
        startedAt: peak.first * 1_000, seconds: Int(peak.last - peak.first + 1),
        messages: peak.messages, busiest: peak.busiest, usual: Int(peak.usual.rounded()),
        words: words.marks(from: peak.first, through: peak.last)))
  }

  /// What was found, or found anew, since the last call; the oldest first.
  mutating func take() -> [ChatHighlight] {
    guard !found.entries.isEmpty else { return [] }
    let entries = found.entries
    found = HighlightTimeline()
    return entries
  }

  /// Looks at the newest second, too. Returns what comes closest to a highlight.
  mutating func end() -> Peak? {
    look(atEnd: true)
    return peaks.newestPeak(atEnd: true).busiest
  }
}

/// The highlights of a chat, the oldest first.
package struct HighlightTimeline: Equatable, Sendable, Codable {
  /// How many of the newest a running chat keeps.
  package static let limit = ChatFindings.highlightLimit

  package private(set) var entries: [ChatHighlight] = []
  /// How many there have been.
  package private(set) var total = 0

  package init() {}

  /// Adds a highlight. One at the same time is the same one, about which more is known now.
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

  /// The newest of them with their numbers, which stay the same.
  package func numbered(last count: Int) -> [(number: Int, highlight: ChatHighlight)] {
    entries.indices.suffix(count).map { (total - entries.count + $0 + 1, entries[$0]) }
  }

  /// Removes words.
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
