import HangSimulation
import LiveEvents
import YAMLReader

/// A type of event that a source with the key `generate` can create.
struct GeneratedType: Sendable {
  let name: String
  /// The additional keys that apply to this type.
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

  /// Creates a type that has no additional keys. `payload` creates its events.
  init(
    _ name: String,
    payload: @escaping @Sendable (inout PayloadMaker.State, inout SourceState) -> LiveEvent.Payload
  ) {
    self.init(name) { _ in PayloadPattern(.event(payload)) }
  }

  /// The types of all parts of the screen. To support a new part of the screen, add a file to this
  /// directory, and add the part's types here.
  static let all =
    activity + chat + header + control + liveRoomStats + poll + recorder + source + waitingRoom
    + stream

  static let keys = Set(all.flatMap(\.keys)).sorted()
}

extension PayloadPattern {
  /// Reads the events of a source with the key `event` or `generate`.
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
    // A key that belongs to another type of event is reported as an error.
    try section.refuse(
      GeneratedType.keys.filter { !keys.contains($0) },
      because: "does not apply to this kind of event")
  }
}

extension YAMLMapping {
  /// Reads a list of words under `key`, or a single word.
  func words(_ key: String, default standard: [String]) throws(ConfigurationError) -> [String] {
    guard let cell = self[key] else { return standard }
    var words: [String] = []
    for cell in try cell.list(orOne: true) { words.append(try cell.text()) }
    if words.isEmpty { throw cell.problem("is empty") }
    return words
  }
}
