/// Something that does not work at present.
package struct PresentFailure: Sendable, Equatable {
  package let reason: String
  /// Milliseconds since 1970.
  package let since: Int

  package init(reason: String, since: Int = WallClock.milliseconds()) {
    self.reason = reason
    self.since = since
  }
}
