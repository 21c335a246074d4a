/// The reason why a line or event was rejected. Its raw value is the name in `rejectedByReason`.
public enum RejectionReason: String, Error, Sendable, CaseIterable, Codable,
  CodingKeyRepresentable
{
  /// The line looks like JSON but is malformed, or is not an object.
  case malformedJSON
  /// The line is not valid UTF-8.
  case invalidUTF8
  /// The value of `type` is not an event type.
  case unknownType
  /// A member that the type requires is absent.
  case missingMember
  /// A member has the wrong type or is out of range.
  case invalidValue
  /// The name of the room is invalid.
  case invalidRoom
  /// The line is longer than 64 KiB.
  case lineTooLong
  /// The format of the line is unknown.
  case unknownFormat
  /// An IRC line that violates the grammar, or lacks a tag required by its command.
  case malformedIRC
  /// A line of the IRC protocol (PING, JOIN, numerics) without information about the stream.
  case protocolLine
  /// The identifier was received before, or the room already contains the batch.
  case duplicate
  /// The sender disconnected before the end of the line's batch.
  case unfinishedBatch
  /// The line's batch exceeds the maximum size of a batch.
  case batchTooLarge
  /// As many rooms are open as the configuration permits.
  case tooManyRooms
  /// The room was closed before the event reached it.
  case roomClosed
}

extension RejectionReason {
  /// Returns ``explanation`` with the fault of the first rejected line, if known.
  package func explanation(_ fault: String?, lines: Int = 1) -> String {
    explanation + (fault.map { (lines == 1 ? ": " : "; the first: ") + $0 } ?? "")
  }

  /// The problem and its remedy, for people.
  package var explanation: String {
    switch self {
    case .malformedJSON: "looks like JSON but is invalid; send one object per line"
    case .invalidUTF8: "not valid UTF-8; send text in UTF-8"
    case .unknownType: "unknown 'type'; see livehost-events(5) for the types"
    case .missingMember: "a member that the type requires is absent"
    case .invalidValue: "a member has the wrong type or is out of range"
    case .invalidRoom: "the room's name does not match [a-z0-9_][a-z0-9_.-]{0,63}"
    case .lineTooLong: "longer than 64 KiB; end each event with a line feed"
    case .unknownFormat: "neither a JSON object nor a Twitch IRC line"
    case .malformedIRC: "a Twitch IRC line with invalid syntax or a missing tag"
    case .protocolLine: "a protocol line without information about the stream"
    case .duplicate: "its identifier, or the position of its batch, was already received"
    case .unfinishedBatch: "its batch did not end; end a batch with a sync or the next position"
    case .batchTooLarge: "its batch is too large; begin another one after 64 KiB"
    case .tooManyRooms: "the limit rooms.maximum is reached; close a room or raise the limit"
    case .roomClosed: "the room was closed before the event arrived"
    }
  }
}
