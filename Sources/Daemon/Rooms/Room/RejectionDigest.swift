package import LiveEvents

/// Decides when rejected input is reported. The first line rejected for a reason is reported
/// immediately, and later lines as one sum per interval, because a long flood of bad input adds no
/// information.
///
/// Callers pass in the time in monotonic nanoseconds.
package struct RejectionDigest: Sendable {
  /// The number of lines rejected for one reason.
  package struct Sum: Sendable, Equatable {
    package let reason: RejectionReason
    package var count: Int
    /// The room of all these lines; nil if there were several rooms, or the room is unknown.
    package var room: RoomName?
    /// The fault of the first of these lines, if it is known.
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

  /// The length of an interval, in nanoseconds.
  package static let interval: UInt64 = 10_000_000_000

  private var windows: [RejectionReason: Window] = [:]

  package init() {}

  /// Adds rejected lines in O(1). Returns the sum to report now, if any.
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

  /// Returns the sums whose interval is over, or all sums if `flushing`, in the order in which the
  /// reasons are declared. Reporting a sum begins another interval; after an interval without
  /// rejections, the next one is reported immediately.
  package mutating func removeDue(now: UInt64, flushing: Bool = false) -> [Sum] {
    RejectionReason.allCases.compactMap { reason in
      guard let window = windows[reason], window.end <= now || flushing else { return nil }
      windows[reason] = window.sum == nil ? nil : Window(end: now + Self.interval)
      return window.sum
    }
  }

  /// When ``removeDue(now:flushing:)`` must be called next; nil if no interval is running.
  package var nextDue: UInt64? { windows.values.map(\.end).min() }

  /// Whether the reason indicates a fault. Sending PING and repeating lines after a reconnection
  /// are normal for a source, and closing a room is deliberate.
  private static func isFault(_ reason: RejectionReason) -> Bool {
    switch reason {
    case .protocolLine, .duplicate, .unfinishedBatch, .roomClosed: false
    case .malformedJSON, .invalidUTF8, .unknownType, .missingMember, .invalidValue, .invalidRoom,
      .lineTooLong, .unknownFormat, .malformedIRC, .batchTooLarge, .tooManyRooms:
      true
    }
  }
}
