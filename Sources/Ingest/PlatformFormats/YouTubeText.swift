import JSON

/// Text of YouTube: whole, or in runs of words and emoji.
struct YouTubeText {
  private(set) var text = ""
  /// Where emoji of channels begin and end, in Unicode scalars: their names stand in the text.
  private(set) var emotes: [Int] = []

  /// What is read of it.
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
      // An emoji of Unicode is its own identifier; those of a channel have a name to type.
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

  /// Texts one after the other, with a blank between them.
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
