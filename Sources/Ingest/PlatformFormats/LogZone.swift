/// The zone of the times of a log that names none.
package struct LogZone: Sendable {
  /// By how many seconds a local time is ahead of UTC. The local time is given as seconds since 1970 as if it were UTC.
  package let secondsFromUTC: @Sendable (_ local: Int) -> Int

  package init(_ secondsFromUTC: @escaping @Sendable (_ local: Int) -> Int) {
    self.secondsFromUTC = secondsFromUTC
  }

  package static let utc = LogZone { _ in 0 }
}
