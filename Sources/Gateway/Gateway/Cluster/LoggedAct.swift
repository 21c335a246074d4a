import ControlInterface
package import JSON
import LiveEvents
import Varlink
import WireFormats

/// An act on a room as a line of the log. The room's owner carries out acts and events in the order
/// of the log.
package struct LoggedAct: Equatable, Sendable {
  package enum Kind: Equatable, Sendable {
    /// An act of the host, in the format of a recording.
    case event(JSONValue)
    case open
    case close
  }

  package var kind: Kind
  /// The subject to which the outcome is published, for the gateway that received the call.
  package var answer: String

  package init(_ kind: Kind, answer: String) { (self.kind, self.answer) = (kind, answer) }

  /// Returns an act of the host; `nil` if no line can carry it.
  static func event(_ event: LiveEvent) -> Kind? {
    var line: [UInt8] = []
    NativeEncoder.append(event, to: &line)
    return (try? JSONValue(parsing: line)).map { .event($0) }
  }

  private static let head = Array(#"{"type":"gateway.act""#.utf8)

  package var line: [UInt8] {
    let (name, value): (JSONName, JSONValue) =
      switch kind {
      case .event(let event): ("event", event)
      case .open: ("open", true)
      case .close: ("close", true)
      }
    let rest: JSONValue = .object([name: value, "answer": .string(answer)])
    // The type comes first, because it distinguishes acts from events.
    return Self.head + [UInt8(ascii: ",")] + rest.serialized().dropFirst() + [0x0A]
  }

  /// Returns whether the daemon does not have the room after an act with this outcome.
  package func leavesNoRoom(_ outcome: JSONValue) -> Bool {
    guard let name = outcome["error"]?.stringValue else { return kind == .close }
    let error = VarlinkError(name: name, parameters: outcome["parameters"]?.objectValue ?? [:])
    switch ControlError(error) {
    case .noSuchRoom: return true
    // The daemon may restore the room at its next start, but the log does not have it.
    case .recordingFailed: return kind == .close
    case .limitReached: return kind == .open
    default: return false
    }
  }

  /// Whether the lines of a message contain an act.
  package static func isAct(_ lines: [UInt8]) -> Bool { lines.starts(with: head) }

  /// Reads an act; fails for an act of a newer version.
  package init?(_ lines: [UInt8]) {
    guard Self.isAct(lines), let value = try? JSONValue(parsing: lines) else { return nil }
    let answer = value["answer"]?.stringValue ?? ""
    if let event = value["event"] {
      self.init(.event(event), answer: answer)
    } else if value["open"] == true {
      self.init(.open, answer: answer)
    } else if value["close"] == true {
      self.init(.close, answer: answer)
    } else {
      return nil
    }
  }
}
