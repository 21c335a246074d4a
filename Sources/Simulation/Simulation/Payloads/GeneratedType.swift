import HangSimulation
import LiveEvents
import YAMLReader

/// A type of event that a source with the key `generate` can make.
struct GeneratedType: Sendable {
  /// The name of the type in native lines.
  let name: String
  /// Keys that only some types of sources have and that apply to this one.
  let keys: [String]
  let pattern: @Sendable (YAMLMapping) throws(ConfigurationError) -> PayloadPattern

  init(
    _ name: String, keys: [String] = [],
    pattern: @escaping @Sendable (YAMLMapping) throws(ConfigurationError) -> PayloadPattern
  ) {
    self.name = name
    self.keys = keys
    self.pattern = pattern
  }

  /// A type without keys; `payload` makes each event.
  init(
    _ name: String,
    payload: @escaping @Sendable (inout PayloadMaker.State, inout SourceState) -> LiveEvent.Payload
  ) {
    self.init(name) { _ in PayloadPattern(.event(payload)) }
  }

  /// The types of all parts. A new part adds a file next to this one, and its types here.
  static let all =
    activity + chat + header + control + liveRoomStats + poll + recorder + source + waitingRoom
    + stream

  static let keys = Set(all.flatMap(\.keys)).sorted()
}

extension PayloadPattern {
  /// Reads what a source with the key `event` or `generate` makes.
  init(_ section: YAMLMapping) throws(ConfigurationError) {
    let keys: [String]
    if let event = section["event"] {
      let payload = try EventReader().payload(event)
      keys = []
      self.init(.event { _, _ in payload })
    } else {
      let type = try section.required("generate").choice(GeneratedType.all.map { ($0.name, $0) })
      keys = type.keys
      self = try type.pattern(section)
    }
    // A key that belongs to another type of event is a mistake.
    try section.refuse(
      GeneratedType.keys.filter { !keys.contains($0) },
      because: "does not apply to this kind of event")
  }
}

extension YAMLMapping {
  /// A list of words under `key`, or one word.
  func words(_ key: String, default standard: [String]) throws(ConfigurationError) -> [String] {
    guard let cell = self[key] else { return standard }
    var words: [String] = []
    for cell in try cell.list(orOne: true) { words.append(try cell.text()) }
    if words.isEmpty { throw cell.problem("is empty") }
    return words
  }
}
