import JSON
import LiveEvents

/// What a person wrote, with the positions of emotes in it.
struct PlatformWords {
  private(set) var text: String
  /// Whether it was written with `/me`, as Twitch sends it: `\u{1}ACTION waves\u{1}`.
  let isAction: Bool
  /// Where emotes begin and end in the text, in Unicode scalars.
  let emotes: [Int]

  init(text: String, emotes: [Int] = []) {
    let opening = "\u{1}ACTION "
    isAction = text.hasPrefix(opening)
    guard isAction else {
      self.text = text
      self.emotes = emotes
      return
    }
    // Some texts lack the end, since platforms cut them.
    let rest = text.dropFirst(opening.count)
    self.text = String(rest.hasSuffix("\u{1}") ? rest.dropLast() : rest)
    let shift = opening.unicodeScalars.count
    self.emotes = emotes.first ?? 0 < shift && !emotes.isEmpty ? emotes : emotes.map { $0 - shift }
  }

  fileprivate mutating func cut(to text: String) { self.text = text }

  /// A sentence of the platform, and after it what the person wrote.
  init(_ sentence: String, followedBy words: PlatformWords?) {
    guard let words else {
      self.init(text: sentence)
      return
    }
    let opening = sentence + ": "
    let shift = opening.unicodeScalars.count
    self.init(text: opening + words.text, emotes: words.emotes.map { $0 + shift })
  }

  /// The `message` of an event of EventSub, whose fragments are the text in pieces; `nil` if nothing was written.
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
    // Messages of subscriptions say where emotes are instead; the last position is that of a character.
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
  /// The same, cut to what fits into a line.
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
