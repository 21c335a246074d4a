/// What the header shows.
///
/// Each case names the native `type` that carries it.
public enum HeaderEvent: Sendable, Hashable {
  /// `reaction`
  case reaction(kind: Text, count: Int)
  /// `viewers`
  case viewers(count: Int)
  /// `title`
  case title(Text)
}
