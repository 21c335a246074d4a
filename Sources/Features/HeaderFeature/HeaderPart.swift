package import LiveEvents

/// The figures that one source reports for the header. `nil` for figures that it never reported.
package struct HeaderPart: Equatable, Sendable, Codable {
  package let origin: Origin
  package var viewers: Int?
  package var title: String?
  package var category: String?
  package var phase: StreamState?
  package var standing = Standing.current

  /// Whether the figures still count.
  package enum Standing: String, Equatable, Sendable, Codable {
    case current
    /// The source has ended or is silent. Its viewers remain in the sum for
    /// ``SourceLimits/staleness``.
    case stale
    /// The source has been stale for too long. Its viewers are no longer part of the sum.
    case gone
    /// The figures name no source. They may come from a source that has named itself since, so they
    /// do not count until the next event without a source.
    case unconfirmed
  }

  init(origin: Origin) { self.origin = origin }

  /// Whether the part has a viewer count that cannot also belong to another part.
  var hasViewers: Bool { viewers != nil && standing != .unconfirmed }

  /// Whether the part is on display.
  package var isShown: Bool {
    switch standing {
    case .current, .stale: true
    case .gone, .unconfirmed: false
    }
  }
}

/// What the header remembers about its parts without showing it.
package struct HeaderBookkeeping: Equatable, Sendable, Codable {
  /// The times of each part, in the order of the parts.
  var times: [PartTimes] = []
  /// The number of the newest report.
  var number = 0
  /// The time of the newest tick, or `nil` before the first.
  var newestTick: Timestamp?
  /// The number of reports from sources that exceeded the limit.
  package internal(set) var omitted = 0
}

/// When a part changed. Reports are numbered, because the timestamps of different sources cannot be
/// compared.
package struct PartTimes: Equatable, Sendable, Codable {
  /// The number of the report with which the stream went live, or `nil` while it is not on the air.
  var wentLive: Int?
  /// The numbers of the reports that last set the phase, the title, and the category.
  var phase = 0
  var title = 0
  var category = 0
  /// The time since the last event, in milliseconds. Does not grow while a source is connected.
  var silence: Int64 = 0
  /// The time for which the part has been stale, in milliseconds.
  var staleness: Int64 = 0
  /// Whether the source ended without ending its stream, so that its phase does not count. Changes
  /// only with ticks and with the source's own events, because throttles follow the phases.
  var hasLeft = false
  /// The state of the connection to the platform, as last reported by the source, if at all.
  var connection: SourceHealth.Connection?

  /// Whether the source reports that it is connected. Such a source is never silent.
  var isConnected: Bool {
    switch connection {
    case .live, .behind: true
    case .connecting, .refused, .ended, nil: false
    }
  }

  /// Whether the source reported its end, and has sent nothing since the previous tick.
  var isOver: Bool {
    switch connection {
    case .refused, .ended: silence > 0
    case .live, .behind, .connecting, nil: false
    }
  }
}

extension HeaderPart: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(EventLimits.total.contains(viewers ?? 0), "viewers")
    try require(title?.utf8.count ?? 0 <= EventLimits.titleLength, "title")
    try require(names: category, in: "category")
  }
}

extension HeaderBookkeeping: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(countable: number, omitted, in: "number")
    try require(times: newestTick, in: "newestTick")
    try check(times, atMost: SourceLimits.sources, "times")
  }
}

extension PartTimes: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(countable: wentLive, phase, title, category, in: "number")
    try require(times: silence, staleness, in: "silence")
  }
}
