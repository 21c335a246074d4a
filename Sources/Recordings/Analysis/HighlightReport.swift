import JSON
package import LiveEvents
import Wording

/// The highlights of a recorded chat.
struct RecordedHighlights {
  /// The number of highlights that are reported: those with the largest increase.
  private static let limit = 20

  private var finder = HighlightFinder()
  private var timeline = HighlightTimeline()
  private var messages = 0

  /// Adds a message. Returns whether this may have taken long.
  mutating func add(_ message: WrittenMessage) -> Bool {
    messages += 1
    let isLong = message.message.text.withUTF8 { finder.add($0, at: message.timestamp) }
    if isLong { for found in finder.removeFound() { timeline.note(found, limit: .max) } }
    return isLong
  }

  mutating func result() -> AnalysisResult {
    let busiest = finder.end()
    for found in finder.removeFound() { timeline.note(found, limit: .max) }
    var best = Best<ChatHighlight>(Self.limit) { left, right in
      (right.busiest - right.usual, left.startedAt) < (left.busiest - left.usual, right.startedAt)
    }
    for highlight in timeline.entries { best.offer(highlight) }
    return AnalysisResult(
      highlights: best.elements.sorted { $0.startedAt < $1.startedAt }, messages: messages,
      busiest: busiest)
  }
}

extension AnalysisResult {
  /// Creates the report on a chat with this number of messages.
  package init(highlights: [ChatHighlight], messages: Int) {
    self.init(highlights: highlights, messages: messages, busiest: nil)
  }

  /// - Parameter busiest: the time that is reported if there are no highlights.
  fileprivate init(highlights: [ChatHighlight], messages: Int, busiest: Peak?) {
    var lines = [
      Format.count(messages, "message") + ", " + Format.count(highlights.count, "highlight")
    ]
    if highlights.isEmpty, let busiest {
      lines.append(
        "\(Format.timeOfDay(milliseconds: busiest.first * 1_000))  busiest: \(rate(busiest.busiest))/s after "
          + "\(rate(Int(busiest.usual.rounded())))/s, within what is usual for this chat")
    }
    for highlight in highlights {
      lines.append(
        "\(Format.timeOfDay(milliseconds: highlight.startedAt))  \(Format.count(highlight.messages, "message")), \(rate(highlight.busiest))/s "
          + "after \(rate(highlight.usual))/s: "
          + highlight.words.map { String($0) }.joined(separator: " "))
    }
    self.init(
      json: [
        "messages": .integer(Int64(messages)),
        "highlights": .array(highlights.map(\.json)),
        "busiest": busiest.map { peak in
          [
            "startedAt": .integer(peak.first * 1_000), "rate": .number(rate(peak.busiest)),
            "baseline": .number(rate(Int(peak.usual.rounded()))),
          ]
        } ?? .null,
      ],
      lines: lines)
  }
}

extension ChatHighlight {
  fileprivate var json: JSONValue {
    [
      "startedAt": .integer(startedAt), "durationMs": .integer(Int64(seconds) * 1_000),
      "messages": .integer(Int64(messages)), "rate": .number(rate(busiest)),
      "baseline": .number(rate(usual)), "words": .array(words.map { .string(String($0)) }),
    ]
  }
}

/// Returns messages per second, from the number in ten seconds.
private func rate(_ messages: Int) -> Double { Double(messages) / 10 }
