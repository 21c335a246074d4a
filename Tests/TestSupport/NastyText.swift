/// Text that is cheap to send but expensive to compare or hash. By the rules of Unicode, the cost
/// is quadratic in the number of combining marks. At this size, a comparison exceeds the time limit
/// of a test.
public enum NastyText {
  public static let marks = String(repeating: "\u{301}\u{316}", count: 128 << 10)
}
