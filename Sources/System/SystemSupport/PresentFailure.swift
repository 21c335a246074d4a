/// A failure that still persists.
package struct PresentFailure: Sendable, Equatable {
  package let reason: String
  /// The start of the failure, in milliseconds since 1970.
  package let since: Int

  package init(reason: String, since: Int = WallClock.milliseconds()) {
    self.reason = reason
    self.since = since
  }
}
