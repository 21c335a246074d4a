/// A person as events name them.
public struct Person: Sendable, Hashable, Codable {
  public var id: Text
  public var name: Text

  public init(id: Text, name: Text) {
    self.id = id
    self.name = name
  }

  /// The length of both texts, in bytes.
  package var byteCount: Int { id.byteCount + name.byteCount }
}
