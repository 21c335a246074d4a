/// Why a line or an event was not taken. The raw value is its name in `rejectedByReason`.
public enum RejectionReason: String, Error, Sendable, CaseIterable, Codable,
  CodingKeyRepresentable
{
  /// The line looks like JSON and is not, or is no object.
  case malformedJSON
  /// The line is not valid UTF-8.
  case invalidUTF8
  /// `type` names no event.
  case unknownType
  /// A member that the type requires is absent.
  case missingMember
  /// A member has the wrong type or is out of range.
  case invalidValue
  /// The room's name breaks the rule.
  case invalidRoom
  /// The line is longer than 64 KiB.
  case lineTooLong
  /// The line belongs to no known format.
  case unknownFormat
  /// An IRC line that breaks the grammar, or lacks a tag that its command requires.
  case malformedIRC
  /// A line that drives the source's protocol (PING, JOIN, numerics) and says nothing about the stream.
  case protocolLine
  /// A message with an identifier that was seen before.
  case duplicate
  /// As many rooms are open as the configuration allows.
  case tooManyRooms
  /// The room was closed while the event was under way.
  case roomClosed
}
