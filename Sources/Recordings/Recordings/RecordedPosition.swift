package import RateLimiting

/// A position between two steps of a recording.
package struct RecordedPosition: Sendable, Codable, Equatable {
  package let recording: String
  /// The room's time at the last step before; the origin if there is none.
  package var instant = Instant.origin
  /// How many of the steps at ``instant`` precede it.
  package var steps = 0

  package init(recording: String) { self.recording = recording }

  /// Advances by `count` steps at an instant. Instants never decrease within a recording.
  package mutating func advance(by count: Int, at instant: Instant) {
    if instant == self.instant { steps += count } else { (self.instant, steps) = (instant, count) }
  }
}
