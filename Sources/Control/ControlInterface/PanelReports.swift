/// The control panel of a room.
public struct ControlReport: Codable, Sendable, Equatable {
  /// Committed values of the sliders, from 0 to 1, by name.
  public var values: [String: Double]
  public var switches: [String: Bool]
  /// Names of the sliders that are being dragged.
  public var dragging: [String]
  /// Number of values committed so far.
  public var committed: Int

  public init(
    values: [String: Double] = [:], switches: [String: Bool] = [:], dragging: [String] = [],
    committed: Int = 0
  ) {
    self.values = values
    self.switches = switches
    self.dragging = dragging
    self.committed = committed
  }
}

/// The header of a room.
public struct HeaderReport: Codable, Sendable, Equatable {
  /// Empty if none was given.
  public var title: String
  public var viewers: Int
  public var peakViewers: Int
  /// Sum of all reactions.
  public var likes: Int
  /// Time on air, in milliseconds.
  public var durationMs: Int
  /// How well the stream gets through; nil while nobody says.
  public var connection: String?

  public init(
    title: String = "", viewers: Int = 0, peakViewers: Int = 0, likes: Int = 0,
    durationMs: Int = 0, connection: String? = nil
  ) {
    self.title = title
    self.viewers = viewers
    self.peakViewers = peakViewers
    self.likes = likes
    self.durationMs = durationMs
    self.connection = connection
  }
}

/// The waiting room.
public struct WaitingRoomReport: Codable, Sendable, Equatable {
  /// People waiting now.
  public var waiting: Int
  /// People let in so far.
  public var admitted: Int
  /// How many the host lets in at most; nil for no limit.
  public var capacity: Int?
  /// Seconds until the stream begins; nil while nobody knows.
  public var secondsLeft: Int?
  /// When the stream is to begin, in milliseconds since 1970; nil while nobody knows.
  public var startsAt: Int?
  /// Those who have waited longest; their number is bounded.
  public var people: [UserReport]?

  public init(
    waiting: Int = 0, admitted: Int = 0, capacity: Int? = nil, secondsLeft: Int? = nil,
    startsAt: Int? = nil, people: [UserReport]? = nil
  ) {
    self.waiting = waiting
    self.admitted = admitted
    self.capacity = capacity
    self.secondsLeft = secondsLeft
    self.startsAt = startsAt
    self.people = people
  }
}
