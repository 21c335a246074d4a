/// Events of the header.
///
/// Each case names its native `type`.
public enum HeaderEvent: Sendable, Hashable {
  /// `reaction`
  case reaction(kind: Text, count: Int)
  /// `viewers`
  case viewers(count: Int)
  /// `title`
  case title(Text)
}
