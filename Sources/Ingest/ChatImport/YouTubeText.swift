import JSON

/// A YouTube text, given as a whole or in runs of words and emoji.
struct YouTubeText {
  private(set) var text = ""
  /// The start and end of each channel emoji, in Unicode scalars. The text contains the emoji's
  /// names.
  private(set) var emotes: [Int] = []

  static let shape = JSONShape.orText(
    .object([
      "simpleText": .text, "content": .text,
      "runs": .list(
        .object([
          "text": .text,
          "emoji": .object([
            "emojiId": .text, "isCustomEmoji": .truth, "shortcuts": .list(.text),
          ]),
        ])),
    ]))

  init(_ value: JSONValue?) {
    if let whole = value?.text("simpleText") ?? value?.text("content") ?? value?.stringValue {
      text = whole
      return
    }
    var position = 0
    for run in value?["runs"]?.arrayValue ?? [] {
      let emoji = run["emoji"]
      // A Unicode emoji is its own identifier. An emoji of a channel has a name for typing it.
      let isNamed = emoji?["isCustomEmoji"]?.boolValue == true
      let name = emoji?["shortcuts"]?.arrayValue?.first?.stringValue
      let piece =
        run["text"]?.stringValue
        ?? (isNamed ? name ?? emoji?.text("emojiId") : emoji?.text("emojiId") ?? name) ?? ""
      let end = position + piece.unicodeScalars.count
      if isNamed, end > position { emotes += [position, end] }
      text += piece
      position = end
    }
  }

  /// Joins texts, separated by a blank.
  init(joining texts: [YouTubeText]) {
    var position = 0
    for piece in texts {
      if position > 0 { text += " " }
      position = text.unicodeScalars.count
      emotes += piece.emotes.map { $0 + position }
      text += piece.text
      position = text.unicodeScalars.count
    }
  }

  var isEmpty: Bool { text.isEmpty }
}
