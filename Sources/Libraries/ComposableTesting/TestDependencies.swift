public import Composable
import IssueReporting

extension Dependencies {
  /// Returns the dependencies of a test. Using a dependency that the test did not set is a failure
  /// that names the dependency.
  ///
  ///     let clock = TestClock()
  ///     let dependencies = Dependencies.test(clock: clock, identifiers: .counting())
  public static func test(
    clock: (any Clock<Duration>)? = nil, identifiers: Identifiers? = nil,
    randomness: Randomness? = nil
  ) -> Dependencies {
    var dependencies = Dependencies(
      clock: clock ?? UnsetClock(),
      identifiers: identifiers ?? Identifiers(unset("identifiers", returning: 0)),
      randomness: randomness ?? Randomness(unset("randomness", returning: 0)))
    dependencies.onUnset = { reportUnset($0, #fileID, #filePath, #line, #column) }
    return dependencies
  }
}

/// Returns a placeholder for a function that a test did not set. Each call is a failure that names
/// the function, and returns `placeholder`.
///
///     var recorder = RecorderClient(start: unset("recorder.start", returning: false))
public func unset<each Argument, Result: Sendable>(
  _ name: String, returning placeholder: Result, fileID: StaticString = #fileID,
  filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
) -> @Sendable (repeat each Argument) -> Result {
  { (_: repeat each Argument) in
    reportUnset(name, fileID, filePath, line, column)
    return placeholder
  }
}

private func reportUnset(
  _ name: String, _ fileID: StaticString, _ filePath: StaticString, _ line: UInt, _ column: UInt
) {
  reportIssue(
    "The dependency '\(name)' was used, but the test did not set it.", fileID: fileID,
    filePath: filePath, line: line, column: column)
}

/// The clock of a test that did not set one.
private struct UnsetClock: Clock {
  var now: TestClock.Instant {
    reportUnset("clock", #fileID, #filePath, #line, #column)
    return TestClock.Instant()
  }

  var minimumResolution: Duration { .nanoseconds(1) }

  func sleep(until deadline: TestClock.Instant, tolerance: Duration?) async throws {
    reportUnset("clock", #fileID, #filePath, #line, #column)
  }
}
