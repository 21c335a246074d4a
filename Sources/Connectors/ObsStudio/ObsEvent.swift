import JSON
package import LiveEvents
import LiveSources

/// A change in OBS that a room should show.
package enum ObsEvent: Equatable, Sendable {
  case stream(StreamState)
  case statistics(StreamStatistics)
  case recorder(RecorderState)
  case recorded(bytes: Int, milliseconds: Int)
  /// The state of a slider or switch, whether it was changed in OBS or by the room.
  case control(String, ControlState)
  /// The levels of an input's channels, from 0 to 1.
  case meter(String, [Float])

  /// Returns the native line without its line ending. `time` is in milliseconds since 1970.
  package func line(room: RoomName, at time: Int) -> [UInt8] {
    SourceLine.event(type, room: room, at: time) { object in
      switch self {
      case .stream(let state): object.add("state", state.rawValue)
      case .statistics(let statistics):
        object.add("bitrateKbps", statistics.bitrateKbps)
        object.add("framesPerSecond", statistics.framesPerSecond)
        object.add("droppedFrames", statistics.droppedFrames)
        object.add("congestion", statistics.congestion)
      case .recorder(let state): object.add("state", state.rawValue)
      case .recorded(let bytes, let milliseconds):
        object.add("bytes", bytes)
        object.add("durationMs", milliseconds)
      case .control(let name, let state):
        object.add("control", name)
        switch state {
        case .value(let value): object.add("value", value)
        case .position(let on): object.add("on", on)
        }
      case .meter(let input, let levels):
        object.add("input", input)
        object.addArray("levels") { array in for level in levels { array.append(level) } }
      }
    }
  }

  private var type: String {
    switch self {
    case .stream: "stream"
    case .statistics: "stats"
    case .recorder: "recorder.state"
    case .recorded: "recorder.progress"
    case .control: "control.state"
    case .meter: "meter"
    }
  }
}
