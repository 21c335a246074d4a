import Analysis
import LiveEvents

/// The words of deleted messages, kept for as long as the analysis may remember them.
struct HiddenWords: Equatable, Sendable, Codable {
  /// The maximum number of words. The oldest words are removed first.
  private static let limit = 1_024
  static let memory = limit * MemoryLayout<Entry>.stride
  /// How long a word is kept, in milliseconds. The analysis remembers words for less time.
  private static let time: Timestamp = 60_000

  private struct Entry: Equatable, Codable {
    let word: UInt64
    let at: Timestamp
  }

  private var entries: [Entry] = []
  /// The time of the last clear of the chat. A highlight that began at or before this time shows no
  /// words.
  private(set) var clearedAt: Timestamp?

  mutating func hide(_ words: Set<UInt64>, at now: Timestamp) {
    entries = entries.filter { !isOver($0, at: now) }
    // The order must be the same in every process.
    entries += words.sorted().map { Entry(word: $0, at: now) }
    if entries.count > Self.limit { entries.removeFirst(entries.count - Self.limit) }
  }

  mutating func hideEverything(at now: Timestamp) {
    entries = []
    clearedAt = now
  }

  func hides(_ word: UInt64, at now: Timestamp) -> Bool {
    entries.contains { $0.word == word && !isOver($0, at: now) }
  }

  private func isOver(_ entry: Entry, at now: Timestamp) -> Bool {
    let (age, overflow) = now.subtractingReportingOverflow(entry.at)
    return overflow || age > Self.time
  }
}

extension ChatFeature {
  /// Adds highlights, without words that occur only in deleted messages.
  func addHighlights(_ found: [ChatHighlight], in state: inout State) {
    guard !found.isEmpty else { return }
    var timeline = state.highlights ?? HighlightTimeline()
    var shown = ShownWords(state)
    for highlight in found {
      var highlight = highlight
      let words = highlight.words.filter { shown.contains($0, of: highlight) }
      highlight.words = words.map { $0.owned() }
      timeline.note(highlight)
    }
    state.highlights = timeline
  }

  /// Removes the words of deleted messages from the highlights. `messages` were shown before the
  /// deletion.
  func hideWords(
    of target: ModerationTarget, among messages: MessageHistory, in state: inout State
  ) {
    guard state.bookkeeping.analysis != nil else { return }
    let now = state.bookkeeping.pace.now
    var hidden = state.bookkeeping.hiddenWords ?? HiddenWords()
    if case .everything = target {
      hidden.hideEverything(at: now)
    } else {
      guard state.messages.count < messages.count else { return }
      var words: Set<UInt64> = []
      for message in messages.suffix(ShownWords.messages) where !state.messages.has(message.number)
      {
        words.formUnion(ChatWords.hashes(of: message.message.text))
      }
      hidden.hide(words, at: now)
    }
    state.bookkeeping.hiddenWords = hidden
    guard var timeline = state.highlights else { return }
    var shown = ShownWords(state)
    timeline.keepWords { shown.contains($1, of: $0) }
    state.highlights = timeline
  }
}

/// Determines which words may be shown: words that were not deleted, and deleted words that also
/// occur in one of the newest messages.
private struct ShownWords {
  /// The number of messages that are searched. With the longest texts, this takes a millisecond.
  static let messages = 512

  private let hidden: HiddenWords?
  private let history: MessageHistory
  private let now: Timestamp
  /// The words of the newest messages, computed when first needed.
  private var present: Set<UInt64>?

  init(_ state: ChatFeature.State) {
    hidden = state.bookkeeping.hiddenWords
    history = state.messages
    now = state.bookkeeping.pace.now
  }

  mutating func contains(_ word: Text, of highlight: ChatHighlight) -> Bool {
    guard let hidden else { return true }
    if let clearedAt = hidden.clearedAt, highlight.startedAt <= clearedAt { return false }
    for hash in ChatWords.hashes(of: word) where hidden.hides(hash, at: now) {
      let present = present ?? Self.words(of: history)
      self.present = present
      if !present.contains(hash) { return false }
    }
    return true
  }

  private static func words(of history: MessageHistory) -> Set<UInt64> {
    history.suffix(messages).reduce(into: []) {
      $0.formUnion(ChatWords.hashes(of: $1.message.text))
    }
  }
}

extension MessageHistory {
  fileprivate func has(_ number: Int) -> Bool {
    let position = position(ofNumber: number)
    return position < count && self[position].number == number
  }
}

extension HiddenWords: Bounded {
  func checkBounds() throws(OutOfBounds) {
    try require(entries.count <= Self.limit && entries.allSatisfy(\.at.isCountable), "entries")
    try require(times: clearedAt, in: "clearedAt")
  }
}
