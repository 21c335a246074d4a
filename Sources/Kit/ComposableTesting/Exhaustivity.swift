/// How much of what happens a test has to spell out.
public enum Exhaustivity: Hashable, Sendable {
  /// Every change of state, every received action, every effect still under way.
  case on
  /// Only what the test mentions. The rest is skipped and, on request, reported as issues that are
  /// expected and do not fail the test.
  case off(showSkippedAssertions: Bool)

  /// Only what the test mentions; the rest is skipped in silence.
  public static let off = Exhaustivity.off(showSkippedAssertions: false)
}

/// Where a test called.
struct CallSite: Sendable {
  let fileID: StaticString
  let filePath: StaticString
  let line: UInt
  let column: UInt
}
