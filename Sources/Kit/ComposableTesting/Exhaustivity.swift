/// How much of what happens a test has to spell out.
public enum Exhaustivity: Hashable, Sendable {
  /// Every change of state, every received action, every effect still under way.
  case on
  /// Only what the test mentions; the rest is skipped.
  case off
}

/// Where a test called.
struct CallSite: Sendable {
  let fileID: StaticString
  let filePath: StaticString
  let line: UInt
  let column: UInt
}
