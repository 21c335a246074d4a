package import LiveEvents

/// The host's notes about people, oldest first. A new note displaces the oldest.
package struct PersonNotes: Equatable, Sendable, Codable {
  package static let limit = 256
  package static var byteLimit: Int {
    limit * (PersonNote.textLength + 2 * EventLimits.nameLength + 3 * (ByteSlab.padding + 64))
  }

  package struct Entry: Equatable, Sendable, Codable {
    package let person: PersonReference
    package let text: String
  }

  package private(set) var entries: [Entry] = []

  package init() {}

  /// Returns the newest note about a person, or `nil` if there is none.
  package subscript(person: PersonReference) -> String? {
    entries.last { $0.person.matches(person) }?.text
  }

  /// Replaces the note about a person. An empty text removes it.
  mutating func set(_ text: String, for person: PersonReference) {
    entries.removeAll { $0.person.matches(person) }
    guard !text.isEmpty else { return }
    if entries.count >= Self.limit { entries.removeFirst(entries.count - Self.limit + 1) }
    entries.append(Entry(person: person, text: text))
  }
}

extension PersonNotes: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try check(entries, atMost: Self.limit, "entries")
  }
}

extension PersonNotes.Entry: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try check(person, "person")
    try require(text.utf8.count <= PersonNote.textLength, "text")
  }
}
