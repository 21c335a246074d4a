package import LiveEvents

/// Decides what is told of rejected input, and when: the first of a reason at once, what follows as one
/// sum per interval. A flood of bad input tells nothing new after its beginning.
///
/// A value; time is passed in, in monotonic nanoseconds.
package struct RejectionDigest: Sendable {
  /// So many lines were rejected for one reason.
  package struct Sum: Sendable, Equatable {
    package let reason: RejectionReason
    package var count: Int
    /// The room that all of them were for; nil if they were for several, or none is known.
    package var room: RoomName?

    package init(_ reason: RejectionReason, count: Int, room: RoomName?) {
      self.reason = reason
      self.count = count
      self.room = room
    }
  }

  private struct Window: Sendable {
    var end: UInt64
    var sum: Sum?
  }

  /// Length of an interval, in nanoseconds.
  package static let interval: UInt64 = 10_000_000_000

  private var windows: [RejectionReason: Window] = [:]

  package init() {}

  /// Adds rejected lines. Returns what is to be told now, if anything.
  ///
  /// - Complexity: O(1).
  package mutating func add(
    _ reason: RejectionReason, count: Int, room: RoomName?, now: UInt64
  ) -> Sum? {
    guard Self.isFault(reason), count > 0 else { return nil }
    let new = Sum(reason, count: count, room: room)
    guard var window = windows[reason] else {
      windows[reason] = Window(end: now + Self.interval)
      return new
    }
    if var sum = window.sum {
      sum.count += count
      if sum.room != room { sum.room = nil }
      window.sum = sum
    } else {
      window.sum = new
    }
    windows[reason] = window
    return nil
  }

  /// The sums whose interval is over, in the order in which the reasons are declared. A reason of which
  /// a sum is told begins another interval; one of which there is none is told at once the next time.
  ///
  /// - Parameter flushing: all sums, whether or not their interval is over.
  package mutating func takeDue(now: UInt64, flushing: Bool = false) -> [Sum] {
    RejectionReason.allCases.compactMap { reason in
      guard let window = windows[reason], window.end <= now || flushing else { return nil }
      windows[reason] = window.sum == nil ? nil : Window(end: now + Self.interval)
      return window.sum
    }
  }

  /// When ``takeDue(now:flushing:)`` is to be called next; nil if never.
  package var nextDue: UInt64? { windows.values.map(\.end).min() }

  /// Whether somebody should look after it. A source that says PING, or that sends again what was sent
  /// before it reconnected, does as it should; and who closes a room knows of it.
  private static func isFault(_ reason: RejectionReason) -> Bool {
    switch reason {
    case .protocolLine, .duplicate, .roomClosed: false
    case .malformedJSON, .invalidUTF8, .unknownType, .missingMember, .invalidValue, .invalidRoom,
      .lineTooLong, .unknownFormat, .malformedIRC, .tooManyRooms:
      true
    }
  }
}
