import JSON
import LiveEvents

// A person on the wire: the object `user`, with `id` and `name`.

extension NativeMembers {
  func requireUserObject() throws(RejectionReason) {
    guard try value(.user).kind == .object else { throw .invalidValue }
  }

  func person() throws(RejectionReason) -> Person {
    try requireUserObject()
    return Person(id: try name(.userID), name: try shortText(.userName))
  }

  /// A person named by earlier events: the identifier is enough, in an object or as a string.
  func knownPerson() throws(RejectionReason) -> Person {
    let id = try personID()
    return Person(
      id: id, name: has(.userName) ? try shortText(.userName) : id)
  }

  /// An identifier, in an object or as a string.
  private func personID() throws(RejectionReason) -> Text {
    try name(try value(.user).kind == .object ? .userID : .user)
  }

  func optionalPersonID() throws(RejectionReason) -> Text? {
    has(.user) ? try personID() : nil
  }
}

extension JSONWriter {
  mutating func add(
    _ key: StaticString, _ person: Person, badges: Text? = nil, color: NameColor? = nil
  ) {
    addObject(key) { object in
      object.add("id", person.id)
      object.add("name", person.name)
      if let badges, !badges.isEmpty { object.add("badges", badges) }
      object.add("color", color?.description)
    }
  }
}
