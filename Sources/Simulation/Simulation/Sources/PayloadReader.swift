import LiveEvents

extension PayloadKind {
  private static let types = [
    "chat.message", "chat.delete", "chat.clear", "chat.timeout", "chat.notice", "chat.modes",
    "reaction", "viewers", "title", "slider", "tap", "stats", "meter", "recorder.state",
    "recorder.progress", "waiting.join", "waiting.leave", "waiting.admit", "stream",
  ]

  /// Keys that some kinds have; see ``ownKeys``.
  static let keys = ["kind", "kinds", "people", "goal", "controls", "input", "seconds"]

  /// Those of ``keys`` that mean something for this kind.
  private var ownKeys: [String] {
    switch self {
    case .chatMessage: ["people"]
    case .chatTimeout: ["seconds"]
    case .chatNotice: ["kind"]
    case .reaction: ["kinds"]
    case .viewers: ["goal"]
    case .slider, .tap: ["controls"]
    case .meter: ["input"]
    case .fixed, .chatDelete, .chatClear, .chatModes, .title, .stats, .recorderState,
      .recorderProgress, .waitingJoin, .waitingLeave, .waitingAdmit, .stream:
      []
    }
  }

  /// Reads what a source with the key `event` or `generate` makes.
  init(_ section: Section) throws(ScenarioError) {
    if let event = section["event"] {
      self = .fixed(try EventReader().payload(event))
    } else {
      self = try Self.generated(section)
    }
    let own = ownKeys
    // A key of another kind of event is a misunderstanding.
    try section.refuse(
      Self.keys.filter { !own.contains($0) }, because: "means nothing for this kind of event")
  }

  private static func generated(_ section: Section) throws(ScenarioError) -> PayloadKind {
    switch try section.required("generate").choice(types.map { ($0, $0) }) {
    case "chat.message":
      return .chatMessage(people: try section["people"]?.integer(in: 1...10_000_000) ?? 60)
    case "chat.delete": return .chatDelete
    case "chat.clear": return .chatClear
    case "chat.timeout":
      return .chatTimeout(seconds: try section["seconds"]?.integer(in: 1...Int.max))
    case "chat.notice":
      return .chatNotice(
        try section["kind"]?.choice(ChatNotice.Kind.allCases.map { ($0.rawValue, $0) })
          ?? .subscribe)
    case "chat.modes": return .chatModes
    case "reaction":
      return .reaction(kinds: try words(section["kinds"], ["heart", "laugh", "fire", "clap"]))
    case "viewers": return .viewers(goal: try section["goal"]?.integer(in: 0...Int.max) ?? 2_400)
    case "title": return .title
    case "slider":
      return .slider(controls: try words(section["controls"], ["microphone", "zoom", "beauty"]))
    case "tap": return .tap(controls: try words(section["controls"], ["camera", "mirror"]))
    case "stats": return .stats
    case "meter": return .meter(input: try section["input"]?.text() ?? "microphone")
    case "recorder.state": return .recorderState
    case "recorder.progress": return .recorderProgress
    case "waiting.join": return .waitingJoin
    case "waiting.leave": return .waitingLeave
    case "waiting.admit": return .waitingAdmit
    default: return .stream
    }
  }

  private static func words(
    _ cell: Cell?, _ standard: [String]
  ) throws(ScenarioError) -> [String] {
    guard let cell else { return standard }
    var words: [String] = []
    for cell in try cell.list(orOne: true) { words.append(try cell.text()) }
    if words.isEmpty { throw cell.problem("is empty") }
    return words
  }
}
