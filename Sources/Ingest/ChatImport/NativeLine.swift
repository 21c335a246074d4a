import JSON
import LiveEvents

/// Writes the members of a native line. Truncates names, titles and lists of emotes that exceed
/// their limits; ``NativeLines`` counts the truncated members.
struct NativeLine {
  private var writer = JSONWriter()
  private var cut: [String] = []

  /// Creates a line that owns the writer's text until ``end(_:)``, so that the text is not copied.
  init(_ writer: inout JSONWriter) { swap(&self.writer, &writer) }

  /// Gives the text back to the writer. Returns the names of the truncated members.
  mutating func end(_ writer: inout JSONWriter) -> [String] {
    swap(&self.writer, &writer)
    return cut
  }

  mutating func add(_ name: StaticString, _ value: Int?) { writer.add(name, value) }
  mutating func add(_ name: StaticString, _ value: Double?) { writer.add(name, value) }
  mutating func add(_ name: StaticString, _ value: Bool?) { writer.add(name, value) }
  mutating func add(_ name: StaticString, _ value: String?) { writer.add(name, value) }

  mutating func addObject(_ name: StaticString, _ body: (inout JSONWriter) -> Void) {
    writer.addObject(name, body)
  }

  mutating func addArray(_ name: StaticString, _ body: (inout JSONWriter) -> Void) {
    writer.addArray(name, body)
  }

  /// Returns the text truncated to `limit` bytes. Records a truncated member.
  private mutating func fitting(
    _ text: String, _ name: StaticString, to limit: Int = EventLimits.nameLength
  ) -> String {
    guard text.utf8.count > limit else { return text }
    recordTruncation(name)
    return text.clipped(to: limit)
  }

  private mutating func recordTruncation(_ name: StaticString) {
    let name = name.description
    if !cut.contains(name) { cut.append(name) }
  }

  /// - Parameter limit: The maximum length of the title in bytes.
  mutating func add(title: String, upTo limit: Int = EventLimits.nameLength) {
    writer.add("title", fitting(title, "title", to: limit))
  }

  mutating func add(user: PlatformUser) {
    let name = fitting(user.name, "name")
    if !user.badges.utf8.isEmpty { _ = fitting(user.badges, "badges") }
    writer.addObject("user") {
      $0.add("id", user.id.clipped)
      $0.add("name", name)
      if !user.badges.isEmpty { $0.add("badges", user.badges.clipped) }
      $0.add("color", user.color?.description)
    }
  }

  /// Adds the positions of emotes in a text: pairs of a start and an exclusive end, in Unicode
  /// scalars.
  mutating func add(emotes: [Int]) {
    let fitting = emotes.prefix(2 * EmoteRanges.limit)
      .prefix { $0 <= EmoteRanges.positions.upperBound }
    // If the list was truncated, the last start may have lost its end.
    let whole = fitting.dropLast(fitting.count % 2)
    if whole.count < emotes.count { recordTruncation("emotes") }
    guard !whole.isEmpty else { return }
    writer.addArray("emotes") { for position in whole { $0.append(position) } }
  }

  mutating func add(_ name: StaticString, texts: [String]) {
    let fitting = texts.map { self.fitting($0, name) }
    writer.addArray(name) { for text in fitting { $0.append(text) } }
  }
}
