import ActivityFeature
import ChatFeature
import ControlFeature
import HeaderFeature
import HostFeature
import LiveEvents
import PollFeature
import SourcesFeature
import Testing

/// The required state of a room after a stream of events, with any throttling: exact sums, the last
/// value of each key, and all peaks.
struct Expected {
  private var likes = 0
  private var viewers = 0
  private var peak = 0
  private var messages = 0
  private var levels: [String: [Float]] = [:]
  private var committed = 0
  private var values: [String: Double] = [:]
  private var dragging: [String: Double] = [:]
  private var goals: [String: Int] = [:]
  private var sources: [String: Int] = [:]
  private var phase = StreamState.waiting
  private var poll: (id: Text, isOpen: Bool, totals: [Int], winner: Int?)?

  mutating func apply(_ payload: LiveEvent.Payload) {
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
    case .poll(let event): apply(event)
    case .stream(let phase):
      self.phase = phase
      if phase == .ended { poll = nil }
    case .activity(.goal(let goal)): goals[String(goal.title)] = goal.count
    case .source(.state(let status)): sources[String(status.source)] = status.lost
    case .activity, .chat, .control, .header, .liveRoomStats, .recorder, .source, .waitingRoom:
      return
    }
  }

  private mutating func apply(_ event: PollEvent) {
    switch event {
    case .begin(let question):
      guard phase != .ended else { return }
      poll = (question.id, true, question.options.map { _ in 0 }, nil)
    case .votes(let id, let totals):
      guard let open = poll, open.isOpen, open.id == id, open.totals.count == totals.count else {
        return
      }
      poll?.totals = totals
    case .end(let id, let winner):
      guard let open = poll, open.isOpen, open.id == id, winner ?? 0 < open.totals.count else {
        return
      }
      poll?.isOpen = false
      poll?.winner = winner
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
    #expect(
      Dictionary(
        uniqueKeysWithValues: (state.activity?.goals ?? []).map { (String($0.title), $0.count) })
        == goals)
    #expect(
      Dictionary(
        uniqueKeysWithValues: (state.sources?.sources ?? []).compactMap { source in
          source.status.map { (String(source.name), $0.lost) }
        }) == sources)
    #expect(state.poll?.id == poll?.id)
    #expect(state.poll?.options.map(\.votes) == poll?.totals)
    #expect(state.poll?.isOpen == poll?.isOpen)
    #expect(state.poll?.winner == poll?.winner)
  }

  private func dictionary<Value>(_ table: ControlTable<Value>) -> [String: Value] {
    Dictionary(uniqueKeysWithValues: table.entries.map { ($0.name, $0.value) })
  }
}
