package import ControlInterface
package import JSON
import TerminalScreen
import Wording

/// The results of a demonstration at full speed.
package struct DemoSummary: Sendable {
  /// The report of one room, and a description of the source of its events.
  package struct PlayedRoom: Sendable {
    package var source: String
    package var lines: Int
    package var room: RoomReport

    package init(source: String, lines: Int, room: RoomReport) {
      self.source = source
      self.lines = lines
      self.room = room
    }

    /// Whether every line was received and is accounted for: applied, coalesced or rejected, with
    /// none pending.
    package var isConserved: Bool {
      let counters = room.counters
      return counters.pending == 0
        && counters.received == counters.applied + counters.coalesced + counters.rejected
        && counters.received == lines
    }
  }

  package var recorded: [PlayedRoom]
  package var simulated: PlayedRoom

  package init(recorded: [PlayedRoom], simulated: PlayedRoom) {
    self.recorded = recorded
    self.simulated = simulated
  }

  package var isConserved: Bool { (recorded + [simulated]).allSatisfy(\.isConserved) }

  package var lines: [String] {
    recorded.flatMap { Self.lines($0, heading: "Recording") } + [""]
      + Self.lines(simulated, heading: "Simulated host")
  }

  package func json() throws -> JSONValue {
    [
      "recorded": .array(try recorded.map(Self.json)), "simulated": try Self.json(simulated),
      "conserved": .bool(isConserved),
    ]
  }

  private static func lines(_ part: PlayedRoom, heading: String) -> [String] {
    let room = part.room
    var lines = [
      "\(heading): room \(TerminalText.sanitized(room.room)), "
        + "from \(TerminalText.sanitized(part.source))"
    ]
    func add(_ name: String, _ value: String) {
      lines.append("  " + TerminalText.padded(name, width: 24) + value)
    }
    add("lines received", Format.count(room.counters.received))
    if let chat = room.features.chat {
      add("chat messages", Format.count(chat.total))
      add("moderation events", Format.count(chat.moderations))
      add("notices", Format.count(chat.notices))
      add("chatters", Format.count(chat.chatters))
      let second = chat.busiestSecond
      add(
        "busiest second of chat",
        "\(Format.count(second.byClock)) by the clock, \(Format.count(second.sliding)) sliding")
    }
    add("actions", Format.count(room.actions))
    add("frames", Format.count(room.frames))
    add("view evaluations", Format.count(room.views.values.reduce(0) { $0 + $1.evaluations }))
    for (name, view) in room.views.sorted(by: { $0.key < $1.key }) {
      add("  \(name)", Format.count(view.evaluations))
    }
    let counters = room.counters
    add(
      "conservation",
      "\(Format.count(counters.received)) received = \(Format.count(counters.applied)) applied "
        + "+ \(Format.count(counters.coalesced)) coalesced "
        + "+ \(Format.count(counters.rejected)) rejected "
        + "+ \(Format.count(counters.pending)) pending: \(part.isConserved ? "holds" : "BROKEN")")
    return lines
  }

  private static func json(_ part: PlayedRoom) throws -> JSONValue {
    [
      "source": .string(part.source), "lines": .integer(Int64(part.lines)),
      "conserved": .bool(part.isConserved), "room": try JSONValue(encoding: part.room),
    ]
  }
}
