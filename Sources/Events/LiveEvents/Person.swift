/// A person as events name them.
public struct Person: Sendable, Hashable, Codable {
  public var id: Text
  public var name: Text

  public init(id: Text, name: Text) {
    self.id = id
    self.name = name
  }

  /// Whether this is the name, whatever the case of its ASCII letters. As bytes: strangers choose names.
  package func isNamed(_ other: Text) -> Bool {
    name.withUTF8 { name in
      other.withUTF8 { other in
        name.count == other.count
          && zip(name, other).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
      }
    }
  }

  /// The length of both texts, in bytes.
  package var byteCount: Int { id.byteCount + name.byteCount }
}
