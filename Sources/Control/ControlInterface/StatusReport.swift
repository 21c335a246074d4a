public import LiveEvents

/// The reply of `GetStatus`.
public struct StatusReport: Codable, Sendable, Equatable {
  public var version: String
  public var uptimeSeconds: Int
  /// Number of open rooms.
  public var rooms: Int
  /// Events received per second, lately.
  public var eventsPerSecond: Double
  public var totals: TotalsReport
  public var health: Health
  /// The longest time for which a lane was held without a break.
  public var longestTurnMicroseconds: Int
  public var memoryBytes: Int
  public var journalEntriesLost: Int
  /// Number of lanes over which the rooms are spread.
  public var lanes: Int
  /// Turns of 250 to 500 ms.
  public var microhangs: Int
  /// Turns of 500 ms and more.
  public var hangs: Int
  /// Least severe messages that are logged.
  public var logLevel: String
  /// The longest time for which a task ran without giving way, on a processor.
  public var longestSliceMicroseconds: Int

  public init(
    version: String, uptimeSeconds: Int, rooms: Int, eventsPerSecond: Double,
    totals: TotalsReport, health: Health, longestTurnMicroseconds: Int, memoryBytes: Int,
    journalEntriesLost: Int, lanes: Int, microhangs: Int = 0, hangs: Int = 0,
    logLevel: String = "info", longestSliceMicroseconds: Int = 0
  ) {
    self.version = version
    self.uptimeSeconds = uptimeSeconds
    self.rooms = rooms
    self.eventsPerSecond = eventsPerSecond
    self.totals = totals
    self.health = health
    self.longestTurnMicroseconds = longestTurnMicroseconds
    self.memoryBytes = memoryBytes
    self.journalEntriesLost = journalEntriesLost
    self.lanes = lanes
    self.microhangs = microhangs
    self.hangs = hangs
    self.logLevel = logLevel
    self.longestSliceMicroseconds = longestSliceMicroseconds
  }
}

/// How the daemon is.
public enum Health: String, Codable, Sendable, CaseIterable {
  case ok
  /// It works, but something was lost or late.
  case degraded
  /// A lane makes no progress.
  case failing
}

/// The sum over rooms, closed ones included, and over lines of which no room is known.
public struct TotalsReport: Codable, Sendable, Equatable {
  public var received: Int
  public var applied: Int
  public var coalesced: Int
  public var rejected: Int
  public var pending: Int
  /// Reasons that never occurred are left out.
  public var rejectedByReason: [String: Int]

  public init(_ counters: Counters = .init(), rejectedByReason: [String: Int] = [:]) {
    received = counters.received
    applied = counters.applied
    coalesced = counters.coalesced
    rejected = counters.rejected
    pending = counters.pending
    self.rejectedByReason = rejectedByReason
  }
}

/// An element of the reply of `ListRooms`.
public struct RoomSummary: Codable, Sendable, Equatable {
  public var room: String
  public var phase: StreamState
  public var viewers: Int
  public var counters: Counters

  public init(room: String, phase: StreamState, viewers: Int, counters: Counters) {
    self.room = room
    self.phase = phase
    self.viewers = viewers
    self.counters = counters
  }
}
