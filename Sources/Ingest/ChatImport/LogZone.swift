/// The time zone of a log whose times name no zone.
package struct LogZone: Sendable {
  /// Returns the number of seconds by which a local time is ahead of UTC. The local time is
  /// expressed as seconds since 1970, computed as if it were a time in UTC.
  package let secondsFromUTC: @Sendable (_ local: Int) -> Int

  package init(_ secondsFromUTC: @escaping @Sendable (_ local: Int) -> Int) {
    self.secondsFromUTC = secondsFromUTC
  }

  package static let utc = LogZone { _ in 0 }
}
