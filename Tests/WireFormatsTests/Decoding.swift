import LiveEvents
import WireFormats

/// The result of decoding one line, in a form that tests can compare.
struct Outcome: Equatable, CustomStringConvertible {
  var event: LiveEvent?
  var reason: RejectionReason?
  var room: String?
  var control: String?
  var isBlank = false

  var description: String {
    "event: \(event.map { "\($0)" } ?? "-"), reason: \(reason?.rawValue ?? "-"), "
      + "room: \(room ?? "-"), control: \(control ?? "-"), blank: \(isBlank)"
  }

  static func event(_ payload: LiveEvent.Payload, at time: Timestamp = 7, room: String = "main")
    -> Outcome
  {
    Outcome(event: LiveEvent(timestamp: time, payload: payload), room: room)
  }

  static func rejected(_ reason: RejectionReason, room: String? = nil) -> Outcome {
    Outcome(reason: reason, room: room)
  }
}

/// Decodes one line with an arrival time of 7 ms. The line is in the middle of a slab with other
/// bytes.
func decode(_ line: some Sequence<UInt8>, override: RoomName? = nil) -> Outcome {
  var decoder = LineDecoder()
  decoder.overrideRoom(override)
  let before = Array("before\n".utf8)
  let line = Array(line)
  let slab = ByteSlab(before + line + Array("\"}after".utf8))
  let slice = ByteSlab.Slice(offset: before.count, count: line.count)
  let decoded = decoder.decode(slab, line: slice, arrival: 7)
  return outcome(decoded) { decoder.name(of: $0).description }
}

func decode(_ line: String, override: RoomName? = nil) -> Outcome {
  decode(line.utf8, override: override)
}

func outcome(_ line: DecodedLine, name: (RoomReference) -> String) -> Outcome {
  switch line {
  case .event(let event, let room): Outcome(event: event, room: name(room))
  case .rejected(let reason, let room): Outcome(reason: reason, room: room.map(name))
  case .control(.sync(let token)): Outcome(control: "sync \(token)")
  case .control(.options(let options)):
    Outcome(
      control: "options \(options.room?.description ?? "-") \(options.clock?.rawValue ?? "-")")
  case .control(.position(let position)):
    Outcome(control: "position \(position.source) \(position.sequence)")
  case .blank: Outcome(isBlank: true)
  }
}
