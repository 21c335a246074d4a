/// The delays between attempts to reach a daemon that stopped answering. The delays are short,
/// because an attempt to reach a daemon on the same machine costs little.
package struct RetryDelay: Sendable {
  private static let shortest = 100
  private static let longest = 1_600
  private var milliseconds = shortest

  package init() {}

  /// Returns the delay before the next attempt: twice the previous delay, from 100 ms to 1.6 s.
  package mutating func next() -> Duration {
    defer { milliseconds = min(2 * milliseconds, Self.longest) }
    return .milliseconds(milliseconds)
  }

  /// Starts again with the shortest delay. Call this once the daemon has answered.
  package mutating func reset() { milliseconds = Self.shortest }
}
