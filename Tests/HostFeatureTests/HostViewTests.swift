import ActivityFeature
import ChatFeature
import Composable
import ComposableTesting
import ControlFeature
import EncoderStatsFeature
import HeaderFeature
import HostFeature
import LiveEvents
import PollFeature
import RecorderFeature
import SourcesFeature
import Testing
import ViewGraph
import WaitingRoomFeature

@Suite struct HostViewTests {
  private let store = Store(
    initialState: HostFeature.State(), lane: DirectLane(), notification: .batched
  ) { HostFeature() }

  @Test func `an action of one part evaluates only the view of that part`() {
    let screen = makeScreen()
    let firsts: [HostFeature.Action] = [
      .chat(.messages([message])), .waitingRoom(.changed([.joined(person)])),
      .liveRoomStats(.windowClosed(StatisticsWindow(samples: 1))),
      .poll(.began(PollQuestion(id: "p", title: "", options: ["a"]), at: 0)),
      .activity(.followed(person, at: 0)),
      .sources(.reported(SourceHealth(source: "s", state: .live), at: 0)),
    ]
    store.send(contentsOf: firsts)
    #expect(
      frame(screen) == [
        "ActivityView", "ChatView", "ControlView", "HeaderView", "HostView",
        "LiveRoomStatsView", "PollView", "RecorderView", "SourcesView", "WaitingRoomView",
      ])

    #expect(evaluated(screen, .chat(.messages([message]))) == ["ChatView"])
    #expect(evaluated(screen, .waitingRoom(.changed([.left(person)]))) == ["WaitingRoomView"])
    #expect(evaluated(screen, .poll(.voted([1]))) == ["PollView"])
    #expect(evaluated(screen, .poll(.voted([1]))) == [])
    #expect(evaluated(screen, .activity(.followed(person, at: 1))) == ["ActivityView"])
    #expect(
      evaluated(screen, .sources(.reported(SourceHealth(source: "s", state: .behind), at: 1)))
        == ["SourcesView"])
    #expect(evaluated(screen, .header(.titleChanged("title"))) == ["HeaderView"])
    #expect(evaluated(screen, .control(.tapped(control: "camera", on: true))) == ["ControlView"])
    #expect(
      evaluated(screen, .liveRoomStats(.windowClosed(StatisticsWindow(samples: 2))))
        == ["LiveRoomStatsView"])
    #expect(evaluated(screen, .recorder(.stateChanged(.starting))) == ["RecorderView"])
    // The host's view reads whether any recorder is recording.
    #expect(
      evaluated(screen, .recorder(.stateChanged(.recording))) == ["HostView", "RecorderView"])
    #expect(evaluated(screen, .recorder(.stateChanged(.recording))) == [])
  }

  @Test func `the views of the parts are in a fixed order below the host's own line`() {
    let screen = makeScreen()
    store.send(.waitingRoom(.changed([.joined(person)])))
    _ = frame(screen)
    guard case .column(let parts)? = screen.output(of: screen.rootID) else {
      Issue.record("The host's output must be a column.")
      return
    }
    #expect(parts.count == 10)
    #expect(parts[0] == .row([.badge("WAITING", .warning)]))
    let titles = parts.dropFirst().map { part in
      guard case .child(let id) = part, case .panel(let panel, _)? = screen.output(of: id) else {
        return ""
      }
      return panel.name
    }
    #expect(titles == ["header", "waitingRoom", "", "", "", "control", "", "recorder", ""])
  }

  @Test func `a summary of the waiting room is shown after its removal`() {
    let screen = makeScreen()
    let last = { () -> ViewNode? in
      guard case .column(let parts)? = screen.output(of: screen.rootID) else { return nil }
      return parts.last
    }
    store.send(.waitingRoom(.changed([.joined(person), .admitted(person)])))
    store.send(.stream(.live, at: 0))
    _ = frame(screen)
    #expect(last() == WaitingRoomView.over(1))
    store.send(.stream(.waiting, at: 0))
    store.send(.waitingRoom(.changed([.joined(person)])))
    _ = frame(screen)
    #expect(last() != WaitingRoomView.over(1))
  }

  private func makeScreen() -> ViewGraph {
    let store = store
    return ViewGraph(
      HostView(), place: store.place, clock: { 0 }, read: { store.state })
  }

  /// Returns the names of the views that a frame evaluates after `action`.
  private func evaluated(_ screen: ViewGraph, _ action: HostFeature.Action) -> [String] {
    store.send(action)
    return frame(screen)
  }

  private func frame(_ screen: ViewGraph) -> [String] {
    var names: [String] = []
    screen.onEvaluation = { names.append($0.name) }
    store.deliverChanges()
    screen.evaluateFrame()
    return names.sorted()
  }

  private var person: Person { Person(id: "u1", name: "Ann") }

  private var message: TimedMessage {
    TimedMessage(
      timestamp: 0, message: ChatMessage(id: "m", userID: "u1", userName: "Ann", text: "hi"))
  }
}
