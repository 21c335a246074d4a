import ChatFeature
import ControlFeature
import HeaderFeature
import HostFeature
import LiveEvents
import Testing

/// What a room must show after a stream of events, whatever thinned them: exact sums, the last value
/// of each key, no peak lost.
struct Expected {
  private var likes = 0
  private var viewers = 0
  private var peak = 0
  private var messages = 0
  private var levels: [String: [Float]] = [:]
  private var committed = 0
  private var values: [String: Double] = [:]
  private var dragging: [String: Double] = [:]

  mutating func note(_ payload: LiveEvent.Payload) {
    switch payload {
    case .header(.reaction(_, let count)): likes += count
    case .header(.viewers(let count)):
      viewers = count
      peak = max(peak, count)
    case .chat(.message): messages += 1
    case .control(.meter(let input, let levels)): self.levels[String(input)] = levels
    case .control(.slider(let slider)):
      guard (0...1).contains(slider.value) else { return }
      let name = String(slider.control)
      switch slider.phase {
      case .begin, .change: dragging[name] = slider.value
      case .end:
        dragging[name] = nil
        values[name] = slider.value
        committed += 1
      }
    case .control(.set(let control, let value)):
      values[String(control)] = value
      committed += 1
    case .chat, .control, .header, .liveRoomStats, .recorder, .waitingRoom, .stream:
      return
    }
  }

  func expect(of state: HostFeature.State) {
    #expect(state.header.likes == likes)
    #expect(state.header.viewers == viewers)
    #expect(state.header.peakViewers == peak)
    #expect(state.chat?.total == messages)
    #expect(dictionary(state.control.meters) == levels)
    #expect(dictionary(state.control.values) == values)
    #expect(dictionary(state.control.dragging) == dragging)
    #expect(state.control.committed == committed)
  }

  private func dictionary<Value>(_ table: ControlTable<Value>) -> [String: Value] {
    Dictionary(uniqueKeysWithValues: table.entries.map { ($0.name, $0.value) })
  }
}
