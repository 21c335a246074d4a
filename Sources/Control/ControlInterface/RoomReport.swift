public import LiveEvents

/// A room as `GetRoom` and `MonitorRoom` tell of it. Its JSON form is fixed; members may be added.
public struct RoomReport: Codable, Sendable, Equatable {
  public var room: String
  public var phase: StreamState
  public var features: FeatureReports
  public var counters: Counters
  /// Reasons that never occurred are left out.
  public var rejectedByReason: [String: Int]
  public var actions: Int
  public var actionsByKind: [String: Int]
  public var frames: Int
  public var views: [String: ViewReport]

  public init(
    room: String, phase: StreamState, features: FeatureReports, counters: Counters,
    rejectedByReason: [String: Int] = [:], actions: Int = 0, actionsByKind: [String: Int] = [:],
    frames: Int = 0, views: [String: ViewReport] = [:]
  ) {
    self.room = room
    self.phase = phase
    self.features = features
    self.counters = counters
    self.rejectedByReason = rejectedByReason
    self.actions = actions
    self.actionsByKind = actionsByKind
    self.frames = frames
    self.views = views
  }
}

/// Where events went: `received = applied + coalesced + rejected + pending` at any instant.
public struct Counters: Codable, Sendable, Equatable {
  public var received: Int
  public var applied: Int
  public var coalesced: Int
  public var rejected: Int
  public var pending: Int

  public init(
    received: Int = 0, applied: Int = 0, coalesced: Int = 0, rejected: Int = 0, pending: Int = 0
  ) {
    self.received = received
    self.applied = applied
    self.coalesced = coalesced
    self.rejected = rejected
    self.pending = pending
  }
}

/// How often a view was evaluated, and what it cost.
public struct ViewReport: Codable, Sendable, Equatable {
  public var evaluations: Int
  /// Evaluations whose output was the same as before.
  public var avoidable: Int
  public var totalMicroseconds: Int
  public var maximumMicroseconds: Int

  public init(
    evaluations: Int = 0, avoidable: Int = 0, totalMicroseconds: Int = 0,
    maximumMicroseconds: Int = 0
  ) {
    self.evaluations = evaluations
    self.avoidable = avoidable
    self.totalMicroseconds = totalMicroseconds
    self.maximumMicroseconds = maximumMicroseconds
  }
}
