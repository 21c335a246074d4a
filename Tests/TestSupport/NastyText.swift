/// Text that is cheap to send and dear to compare or hash: by the rules of Unicode the cost grows with the square of
/// such a run. At this size that takes longer than the time limit of a test.
public enum NastyText {
  public static let marks = String(repeating: "\u{301}\u{316}", count: 128 << 10)
}
