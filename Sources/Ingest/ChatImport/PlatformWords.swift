import JSON
import LiveEvents

/// A person's text, with the positions of emotes in it.
struct PlatformWords {
  private(set) var text: String
  /// Whether the text was written with `/me`, which Twitch sends as `\u{1}ACTION waves\u{1}`.
  let isAction: Bool
  /// The start and end of each emote in the text, in Unicode scalars.
  let emotes: [Int]

  init(text: String, emotes: [Int] = []) {
    let opening = "\u{1}ACTION "
    isAction = text.hasPrefix(opening)
    guard isAction else {
      self.text = text
      self.emotes = emotes
      return
    }
    // Platforms truncate some texts, so the closing `\u{1}` may be missing.
    let rest = text.dropFirst(opening.count)
    self.text = String(rest.hasSuffix("\u{1}") ? rest.dropLast() : rest)
    let shift = opening.unicodeScalars.count
    self.emotes = emotes.first ?? 0 < shift && !emotes.isEmpty ? emotes : emotes.map { $0 - shift }
  }

  fileprivate mutating func cut(to text: String) { self.text = text }

  /// Creates a sentence of the platform followed by the person's text.
  init(_ sentence: String, followedBy words: PlatformWords?) {
    guard let words else {
      self.init(text: sentence)
      return
    }
    let opening = sentence + ": "
    let shift = opening.unicodeScalars.count
    self.init(text: opening + words.text, emotes: words.emotes.map { $0 + shift })
  }

  /// Reads the `message` of an EventSub event, whose fragments are pieces of the text. Returns
  /// `nil` if the text is empty.
  init?(_ message: JSONValue?) {
    guard let message else { return nil }
    if let text = message.stringValue, !text.isEmpty {
      self.init(text: text)
      return
    }
    let fragments = message["fragments"]?.arrayValue ?? []
    let joined = fragments.compactMap { $0["text"]?.stringValue }.joined()
    guard let text = message.text("text") ?? (joined.isEmpty ? nil : joined) else { return nil }
    var positions: [Int] = []
    var end = 0
    for fragment in fragments {
      let start = end
      end += fragment["text"]?.stringValue?.unicodeScalars.count ?? 0
      guard end <= EmoteRanges.positions.upperBound else { break }
      if fragment.word("type") == "emote", start < end { positions += [start, end] }
    }
    // Instead of fragments, messages of subscriptions contain a list of the positions of emotes,
    // with inclusive ends.
    for emote in message["emotes"]?.arrayValue ?? [] {
      guard let first = emote.count("begin"), let last = emote.count("end"), first <= last,
        last < EmoteRanges.positions.upperBound
      else { continue }
      positions += [first, last + 1]
    }
    self.init(text: text, emotes: positions)
  }
}

extension NativeLines {
  /// Returns the words truncated to the size that fits into a line. Counts the truncation.
  mutating func fitting(_ words: PlatformWords) -> PlatformWords {
    var fitting = words
    fitting.cut(to: self.fitting(words.text))
    return fitting
  }
}

extension NativeLine {
  mutating func add(words: PlatformWords) {
    add("text", words.text)
    if words.isAction { add("action", true) }
    add(emotes: words.emotes)
  }
}
