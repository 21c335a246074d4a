/// A person in an event.
public struct Person: Sendable, Hashable, Codable {
  public var id: Text
  public var name: Text

  public init(id: Text, name: Text) {
    self.id = id
    self.name = name
  }

  /// Returns whether the person has this name, ignoring the case of ASCII letters. Compares bytes,
  /// because names are untrusted.
  package func isNamed(_ other: Text) -> Bool {
    name.withUTF8 { name in
      other.withUTF8 { other in
        name.count == other.count
          && zip(name, other).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
      }
    }
  }

  /// The length in bytes of both texts.
  package var byteCount: Int { id.byteCount + name.byteCount }
}
