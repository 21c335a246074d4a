package import LiveEvents

/// Decides what is reported about rejected input, and when: the first line rejected for a reason at
/// once, later ones as one sum per interval. A flood of bad input says nothing new after its
/// beginning.
///
/// A value; time is passed in, in monotonic nanoseconds.
package struct RejectionDigest: Sendable {
  /// The number of lines rejected for one reason.
  package struct Sum: Sendable, Equatable {
    package let reason: RejectionReason
    package var count: Int
    /// The room of all these lines; nil if they were for several rooms, or the room is unknown.
    package var room: RoomName?
    /// What was wrong with the first of these lines, if that is known.
    package let fault: String?

    package init(_ reason: RejectionReason, count: Int, room: RoomName?, fault: String? = nil) {
      self.reason = reason
      self.count = count
      self.room = room
      self.fault = fault
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

  /// Adds rejected lines. Returns what to report now, if anything.
  ///
  /// - Complexity: O(1).
  package mutating func add(
    _ reason: RejectionReason, count: Int, room: RoomName?, fault: String? = nil, now: UInt64
  ) -> Sum? {
    guard Self.isFault(reason), count > 0 else { return nil }
    let new = Sum(reason, count: count, room: room, fault: fault)
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

  /// The sums whose interval is over, in the order in which the reasons are declared. Reporting a
  /// sum begins another interval; a reason without a sum is reported at once the next time.
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

  /// Whether the reason deserves attention. A source that sends PING, or repeats lines after
  /// reconnecting, works as intended; and closing a room is deliberate.
  private static func isFault(_ reason: RejectionReason) -> Bool {
    switch reason {
    case .protocolLine, .duplicate, .unfinishedBatch, .roomClosed: false
    case .malformedJSON, .invalidUTF8, .unknownType, .missingMember, .invalidValue, .invalidRoom,
      .lineTooLong, .unknownFormat, .malformedIRC, .batchTooLarge, .tooManyRooms:
      true
    }
  }
}
