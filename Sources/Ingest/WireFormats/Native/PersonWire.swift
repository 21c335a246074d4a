import JSON
import LiveEvents

// Encodes a person as the object `user` with the members `id` and `name`.

extension NativeMembers {
  func requireUserObject() throws(RejectionReason) {
    guard try value(.user).kind == .object else { throw .invalidValue }
  }

  func person() throws(RejectionReason) -> Person {
    try requireUserObject()
    let id = try name(.userID)
    return Person(id: id, name: optionalShortText(.userName) ?? id)
  }

  /// Returns a person whom earlier events named. Only the identifier is required, in an object or
  /// as a string.
  func knownPerson() throws(RejectionReason) -> Person {
    let id = try personID()
    return Person(id: id, name: optionalShortText(.userName) ?? id)
  }

  /// Returns a person whose messages are to be removed. An object with only a name suffices.
  func silencedPerson() throws(RejectionReason) -> Person {
    guard try value(.user).kind == .object,
      optional(.userID, { (line, member) throws(RejectionReason) in try line.name(member) }) == nil
    else { return try knownPerson() }
    return Person(id: "", name: try name(.userName))
  }

  /// Returns a person's identifier, given in an object or as a string.
  func personID() throws(RejectionReason) -> Text {
    try name(try value(.user).kind == .object ? .userID : .user)
  }
}

extension JSONWriter {
  mutating func add(
    _ key: StaticString, _ person: Person, badges: Text? = nil, color: NameColor? = nil
  ) {
    addObject(key) { object in
      // A person who was timed out or banned by name has no identifier.
      if !person.id.isEmpty { object.add("id", person.id) }
      object.add("name", person.name)
      if let badges, !badges.isEmpty { object.add("badges", badges) }
      object.add("color", color?.description)
    }
  }
}

/// An unusable member rejects the line: the host must not see or describe another person.
extension PersonReference {
  init(_ line: borrowing NativeMembers) throws(RejectionReason) {
    self.init(id: try line.personID(), platform: try line.exactName(.platform))
  }

  func write(to object: inout JSONWriter) {
    object.add("user", id)
    object.add("platform", platform)
  }
}

extension PersonNote {
  init(_ line: borrowing NativeMembers) throws(RejectionReason) {
    let person = try PersonReference(line)
    guard let note = PersonNote(about: person, try line.text(.text)) else {
      throw line.invalid(.text)
    }
    self = note
  }
}
