/// The extent to which a test must assert everything that happens.
public enum Exhaustivity: Hashable, Sendable {
  /// The test must assert every state change, every received action, and the end of every effect.
  case on
  /// The test asserts only what it mentions. Everything else is skipped, and reported on request as
  /// expected issues, which do not fail the test.
  case off(showSkippedAssertions: Bool)

  /// The test asserts only what it mentions. Everything else is skipped silently.
  public static let off = Exhaustivity.off(showSkippedAssertions: false)
}

struct CallSite: Sendable {
  let fileID: StaticString
  let filePath: StaticString
  let line: UInt
  let column: UInt
}
