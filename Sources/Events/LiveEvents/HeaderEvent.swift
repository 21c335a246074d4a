/// Events of the header. Each case is named like its native `type`.
public enum HeaderEvent: Sendable, Hashable {
  case reaction(kind: Text, count: Int)
  case viewers(count: Int)
  case title(Text)
}
