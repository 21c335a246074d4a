/// Events of the header, with their `type` in the native format.
public enum HeaderEvent: Sendable, Hashable {
  /// `reaction`
  case reaction(kind: Text, count: Int)
  /// `viewers`
  case viewers(count: Int)
  /// `title`
  case title(Text)
}
