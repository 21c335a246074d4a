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
import RateLimiting
import RecorderFeature
import Testing
import WaitingRoomFeature

@Suite struct HostFeatureTests {
  private let store = Store(initialState: HostFeature.State(), lane: DirectLane()) {
    HostFeature()
  }

  @Test func `an empty room is in the waiting phase without optional children`() {
    #expect(store.state.phase == .waiting)
    #expect(store.state.chat == nil)
    #expect(store.state.liveRoomStats == nil)
    #expect(store.state.poll == nil)
    #expect(store.state.waitingRoom == nil)
  }

  @Test func `an optional part appears with its first action, which it also receives`() {
    store.send(.chat(.messages([message])))
    #expect(store.state.chat?.total == 1)
    store.send(.waitingRoom(.changed([.joined(person)])))
    #expect(store.state.waitingRoom?.people.count == 1)
    store.send(.liveRoomStats(.windowClosed(StatisticsWindow(samples: 4))))
    #expect(store.state.liveRoomStats?.samples == 4)
    store.send(.poll(.began(PollQuestion(id: "p", title: "", options: ["a"]), at: 0)))
    #expect(store.state.poll?.options.count == 1)
    #expect(store.actionCount == 4)
    #expect(store.actionsWithoutChild == 0)
  }

  @Test func `the activity feed starts with the notices of the chat and receives later notices`() {
    func raid(_ count: Int) -> HostFeature.Action {
      .chat(.notice(ChatNotice(kind: .raid, user: person, count: count), at: 5))
    }
    func gift(_ group: Text?) -> HostFeature.Action {
      .chat(.notice(ChatNotice(kind: .gift, user: person, count: 1, group: group), at: 6))
    }
    store.send(raid(1))
    store.send(.activity(.dismissed(1)))
    #expect(store.state.activity == nil)
    store.send(.activity(.followed(person, at: 7)))
    let actions = store.actionCount
    store.send(raid(2))
    // The announcement of a gift bomb includes its gifts.
    store.send(gift("bomb"))
    store.send(gift(nil))
    #expect(store.actionCount == actions + 3)
    #expect(store.state.activity?.feed.rows.map(\.kind) == [.raid, .follow, .raid, .gift])
    store.send(.activity(.announced(Announcement(text: "rude", id: "a"), at: 7)))
    store.send(.chat(.messageDeleted("a", at: 8)))
    #expect(store.state.activity?.feed.rows.last?.text == nil)
    store.send(.activity(.dismissed(store.state.activity?.feed.total ?? 0)))
    #expect(store.state.activity?.feed.rows.map(\.count) == [1, 0, 2, 1])
    store.send(.roomClosed)
    #expect(store.state.activity == nil)
  }

  @Test func `the host's state follows the stream from the waiting room to the end`() {
    store.send(.waitingRoom(.changed([.joined(person)])))
    store.send(.liveRoomStats(.windowClosed(StatisticsWindow(samples: 1))))
    store.send(.chat(.messages([message])))

    store.send(.stream(.live, at: 1_000))
    #expect(store.state.phase == .live)
    #expect(store.state.waitingRoom == nil)
    #expect(store.state.liveRoomStats != nil)
    #expect(store.state.header.phase == .live)
    #expect(store.state.header.liveSince == 1_000)

    store.send(.stream(.paused, at: 3_000))
    store.send(.stream(.live, at: 5_000))
    store.send(.stream(.ended, at: 9_000))
    #expect(store.state.phase == .ended)
    #expect(store.state.liveRoomStats == nil)
    #expect(store.state.header.durationMilliseconds == 8_000)
    #expect(store.state.chat?.total == 1)

    store.send(.roomClosed)
    #expect(store.state.chat == nil)
    // The changes of phase reached the header without separate actions.
    #expect(store.actionCount == 8)
  }

  @Test func `a late event does not restore a part that the stream's phase has removed`() {
    store.send(.stream(.live, at: 0))
    store.send(.waitingRoom(.changed([.joined(person)])))
    #expect(store.state.waitingRoom == nil)
    #expect(store.actionsWithoutChild == 1)
    store.send(.stream(.ended, at: 0))
    store.send(.liveRoomStats(.windowClosed(StatisticsWindow(samples: 1))))
    #expect(store.state.liveRoomStats == nil)
    #expect(store.actionsWithoutChild == 2)
  }

  @Test func `a poll appears with its question, and is removed when the stream or the room ends`() {
    let question = PollQuestion(id: "p", title: "", options: ["a"], endsAt: 5_000)
    store.send(.poll(.voted([1])))
    store.send(.poll(.ended(winner: 0)))
    #expect(store.state.poll == nil)
    #expect(store.actionsWithoutChild == 2)
    for end in [HostFeature.Action.stream(.ended, at: 0), .roomClosed] {
      store.send(.stream(.live, at: 0))
      store.send(.poll(.began(question, at: 1_000)))
      store.send(.stream(.paused, at: 2_000))
      store.send(.ticked(at: 2_000))
      #expect(store.state.poll?.secondsLeft == 3)
      store.send(end)
      #expect(store.state.poll == nil)
    }
  }

  @Test func `a removed part is empty when it appears again in a later phase`() {
    store.send(.waitingRoom(.changed([.joined(person)])))
    store.send(.stream(.live, at: 0))
    store.send(.stream(.paused, at: 0))
    #expect(store.state.waitingRoom == nil)
    store.send(.waitingRoom(.changed([])))
    #expect(store.state.waitingRoom == WaitingRoomFeature.State())
  }

  @Test func `the host keeps the recorder's last report`() {
    store.send(.recorder(.stateChanged(.recording)))
    #expect(store.state.isRecording)
    store.send(.recorder(.stateChanged(.failed)))
    #expect(!store.state.isRecording)
  }

  @Test
  func `the host keeps the reported quality of the connection until the statistics are removed`() {
    store.send(
      .liveRoomStats(
        .windowClosed(StatisticsWindow(congestion: Summary(0.9), samples: 1))))
    #expect(store.state.quality == .poor)
    store.send(.stream(.ended, at: 0))
    #expect(store.state.quality == nil)
    // A late delegate action of the removed child does not restore it.
    store.send(.liveRoomStats(.delegate(.qualityChanged(.good))))
    #expect(store.state.liveRoomStats == nil)
  }

  @Test func `a change in a part does not notify observers of the host's own fields`() {
    store.send(.chat(.messages([message])))
    var hostChanges: [FieldSet] = []
    var chatChanges = 0
    let host = store.observeAll { hostChanges.append($0) }
    let chat = store.place.child(\.chat).observe(\.total) { chatChanges += 1 }
    store.send(.chat(.messages([message])))
    store.send(.control(.sliderMoved(control: "mic", value: 1)))
    store.send(.header(.titleChanged("title")))
    store.send(.recorder(.stateChanged(.starting)))
    #expect(hostChanges.isEmpty)
    #expect(chatChanges == 1)
    store.send(.stream(.live, at: 0))
    #expect(hostChanges.count == 1)
    host.cancel()
    chat.cancel()
  }

  @Test func `actions of the host's screen are counted by kind`() {
    store.send(.chat(.messages([message])))
    store.send(.control(.sliderReleased(control: "mic", value: 1)))
    store.send(.stream(.live, at: 0))
    let counts = store.actionsByKind.map { "\($0.kind) \($0.count)" }
    #expect(
      counts == [
        "chat.messages 1", "control.sliderReleased 1", "control.delegate 1", "stream 1",
      ])
  }

  private var person: Person { Person(id: "u1", name: "Ann") }

  private var message: TimedMessage {
    TimedMessage(
      timestamp: 0, message: ChatMessage(id: "m", userID: "u1", userName: "Ann", text: "hi"))
  }
}
