import ControlInterface
package import JSON
import LiveEvents
import Varlink
import WireFormats

/// A host action as a line of the log: an event, or the opening or closing of the room. The room's
/// owner carries out host actions and events in the order of the log.
package struct LoggedAct: Equatable, Sendable {
  package enum Kind: Equatable, Sendable {
    /// An event, in the format of a recording.
    case event(JSONValue)
    case open
    case close
  }

  package var kind: Kind
  /// The subject to which the outcome is published, for the gateway that received the call.
  package var answer: String

  package init(_ kind: Kind, answer: String) { (self.kind, self.answer) = (kind, answer) }

  /// Returns the host action for an event; `nil` if the event cannot be written as a line.
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
    // The type comes first, because it distinguishes host actions from events.
    return Self.head + [UInt8(ascii: ",")] + rest.serialized().dropFirst() + [0x0A]
  }

  /// Returns whether this outcome of the host action means that the daemon does not have the room
  /// afterwards.
  package func leavesNoRoom(_ outcome: JSONValue) -> Bool {
    guard let name = outcome["error"]?.stringValue else { return kind == .close }
    let error = VarlinkError(name: name, parameters: outcome["parameters"]?.objectValue ?? [:])
    switch ControlError(error) {
    case .noSuchRoom: return true
    // The daemon may restore the room at its next start, although in the log the room is closed.
    case .recordingFailed: return kind == .close
    case .limitReached: return kind == .open
    default: return false
    }
  }

  /// Whether the lines of a message contain a host action.
  package static func isAct(_ lines: [UInt8]) -> Bool { lines.starts(with: head) }

  /// Reads a host action; fails if a newer version wrote it in an unknown form.
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
