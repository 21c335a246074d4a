public import JSON

/// Parameters and replies of the methods that are no reports themselves.
struct RoomParameters: Codable, Sendable { let room: String }

struct ListRoomsReply: Codable, Sendable { let rooms: [RoomSummary] }

struct GetRoomParameters: Codable, Sendable {
  let room: String
  let feature: Feature?
}

struct MonitorRoomParameters: Codable, Sendable {
  let room: String
  let features: [Feature]?
  let maximumRate: Double?
}

struct MonitorScreenParameters: Codable, Sendable {
  let room: String
  let maximumRate: Double?
}

struct ListHangsParameters: Codable, Sendable { let since: Int? }

struct ExplainParameters: Codable, Sendable {
  let room: String
  let view: String
}

struct SendEventsParameters: Codable, Sendable {
  let room: String?
  let events: [JSONValue]
}

/// The reply of `SendEvents`: all events are applied.
public struct SendEventsReply: Codable, Sendable, Equatable {
  /// The number of elements.
  public var received: Int
  /// Those that were well formed and still not taken, duplicates for instance.
  public var rejected: Int

  public init(received: Int, rejected: Int) {
    self.received = received
    self.rejected = rejected
  }
}

/// A reply of `MonitorRoom`.
public struct MonitorRoomReply: Codable, Sendable, Equatable {
  /// Number of the state that this reply leads to.
  public let sequence: UInt64
  /// The whole state, in the first reply.
  public let room: JSONValue?
  /// The change since the reply before; see ``MergePatch``.
  public let patch: JSONValue?
}
