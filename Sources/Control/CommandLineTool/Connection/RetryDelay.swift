/// How long to wait before a daemon that went away is tried again. It is on this machine, so nothing is spared by
/// waiting for long.
package struct RetryDelay: Sendable {
  private static let shortest = 100
  private static let longest = 1_600
  private var milliseconds = shortest

  package init() {}

  /// The wait before the next attempt: twice the one before.
  package mutating func next() -> Duration {
    defer { milliseconds = min(2 * milliseconds, Self.longest) }
    return .milliseconds(milliseconds)
  }

  /// To be called once the daemon has answered.
  package mutating func reset() { milliseconds = Self.shortest }
}
