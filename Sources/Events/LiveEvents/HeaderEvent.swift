/// Events of the header. The native `type` of a case is the case's name.
public enum HeaderEvent: Sendable, Hashable {
  case reaction(kind: Text, count: Int)
  case viewers(count: Int)
  case title(Text)
  /// The category of the stream, such as a game.
  case category(Text)
}
