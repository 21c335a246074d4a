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
  /// An identifier that has been seen before.
  case duplicate
  /// As many rooms are open as the configuration allows.
  case tooManyRooms
  /// The room was closed before the event reached it.
  case roomClosed
}
