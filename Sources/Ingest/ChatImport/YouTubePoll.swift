import JSON
import LiveEvents

/// Tracks the poll of a YouTube chat. At most one poll is open.
struct YouTubePoll: Sendable {
  private static let shape = JSONShape.object([
    "choices": .list(.object(["text": YouTubeText.shape, "voteRatio": .number])),
    "header": .object([
      "pollHeaderRenderer": .object([
        "pollQuestion": YouTubeText.shape, "metadataText": YouTubeText.shape,
      ])
    ]),
  ])

  private var id: String?
  /// The panel that shows the poll. When the panel closes, the poll has ended.
  private var panel: String?
  private var options: [String] = []

  mutating func process(
    _ action: String, _ body: JSONValue, _ time: Int?, _ lines: inout NativeLines
  ) {
    if action == "closeLiveChatActionPanelAction" {
      guard let id, body.text("targetPanelId").map({ $0 == panel }) ?? true else { return }
      lines.add("poll.end", room: nil, at: time) { $0.add("id", id) }
      self.id = nil
      return
    }
    let shown = body["panelToShow"]?["liveChatActionPanelRenderer"]
    guard
      let poll = shown?["contents"]?["pollRenderer"] ?? body["pollToUpdate"]?["pollRenderer"],
      let id = poll.text("liveChatPollId")?.clipped
    else { return lines.count(unknown: action) }
    lines.count(misfitsOf: poll, Self.shape)
    if let shown { panel = shown.text("id") ?? shown.text("targetId") }
    let choices = poll["choices"]?.arrayValue ?? []
    if id != self.id { begin(id, poll, choices, time, &lines) }
    votes(poll, choices, time, &lines)
  }

  private mutating func begin(
    _ id: String, _ poll: JSONValue, _ choices: [JSONValue], _ time: Int?,
    _ lines: inout NativeLines
  ) {
    let title = YouTubeText(poll["header"]?["pollHeaderRenderer"]?["pollQuestion"]).text
    self.id = id
    options = choices.map { YouTubeText($0["text"]).text }
    let options = options
    lines.add("poll.begin", room: nil, at: time) {
      $0.add("id", id)
      $0.add(title: title.isEmpty ? "poll" : title)
      $0.add("options", texts: options)
    }
  }

  /// Adds the votes of each choice, computed from its share and the total in the heading's text.
  private func votes(
    _ poll: JSONValue, _ choices: [JSONValue], _ time: Int?, _ lines: inout NativeLines
  ) {
    let ratios = choices.compactMap { choice -> Double? in
      switch choice["voteRatio"] {
      case .number(let ratio)?: ratio
      case .integer(let ratio)?: Double(ratio)
      default: nil
      }
    }
    guard let id, !ratios.isEmpty, ratios.count == options.count else { return }
    let heading = poll["header"]?["pollHeaderRenderer"]?["metadataText"]
    let numbers = (heading?["runs"]?.arrayValue ?? []).compactMap { $0.text("text")?.firstNumber }
    let total = Double(numbers.last ?? 100)
    lines.add("poll.votes", room: nil, at: time) {
      $0.add("id", id)
      $0.addArray("totals") { array in
        for ratio in ratios { array.append(Int((min(max(ratio, 0), 1) * total).rounded())) }
      }
    }
  }
}
