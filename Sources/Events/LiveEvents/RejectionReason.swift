/// Why a line or an event was rejected. The raw value is its name in `rejectedByReason`.
public enum RejectionReason: String, Error, Sendable, CaseIterable, Codable,
  CodingKeyRepresentable
{
  /// The line looks like JSON but is malformed, or is not an object.
  case malformedJSON
  /// The line is not valid UTF-8.
  case invalidUTF8
  /// `type` does not name an event.
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
  /// A line of the source's protocol (PING, JOIN, numerics) that says nothing about the stream.
  case protocolLine
  /// An identifier that has been seen before, or a batch that the room holds already.
  case duplicate
  /// The sender left before the batch that the line is in ended.
  case unfinishedBatch
  /// The batch that the line is in is larger than a batch may be.
  case batchTooLarge
  /// As many rooms are open as the configuration allows.
  case tooManyRooms
  /// The room was closed before the event reached it.
  case roomClosed
}

extension RejectionReason {
  /// ``meaning``, and what was wrong with the first of the rejected lines, if that is known.
  package func meaning(_ fault: String?, lines: Int = 1) -> String {
    meaning + (fault.map { (lines == 1 ? ": " : "; the first: ") + $0 } ?? "")
  }

  /// What is wrong, and what is right instead.
  package var meaning: String {
    switch self {
    case .malformedJSON: "looks like JSON and is not; send one object per line"
    case .invalidUTF8: "no valid UTF-8; send text in UTF-8"
    case .unknownType: "unknown 'type'; see livehost-events(5) for the types"
    case .missingMember: "a member that the type requires is absent"
    case .invalidValue: "a member has the wrong type or is out of range"
    case .invalidRoom: "the room's name breaks the rule [a-z0-9_][a-z0-9_.-]{0,63}"
    case .lineTooLong: "longer than 64 KiB; end each event by a line feed"
    case .unknownFormat: "neither a JSON object nor a line of Twitch IRC"
    case .malformedIRC: "a line of Twitch IRC that breaks its grammar or lacks a tag"
    case .protocolLine: "drives the source's protocol and says nothing about the stream"
    case .duplicate: "its identifier, or the position of its batch, was seen before"
    case .unfinishedBatch: "its batch has no end; end a batch by a sync or the next position"
    case .batchTooLarge: "its batch is too large; begin another one after 64 KiB"
    case .tooManyRooms: "as many rooms are open as rooms.maximum allows; close one or raise it"
    case .roomClosed: "the room was closed before it arrived"
    }
  }
}
