import ChatFeature
import Composable
import ControlFeature
import EncoderStatsFeature
import HeaderFeature
import HostFeature
import HostScreen
import LiveEvents
import RateLimiting
import RecorderFeature
import TestSupport
import Testing
import ViewGraph
import WaitingRoomFeature

/// The views that a change of a child evaluates, with and without tracking of the children.
struct TrackingTests {
  /// The name of each child's view, by the host's field for the child.
  static let views = [
    "activity": "ActivityView", "chat": "ChatView", "control": "ControlView",
    "header": "HeaderView",
    "liveRoomStats": "LiveRoomStatsView", "poll": "PollView", "recorder": "RecorderView",
    "sources": "SourcesView", "waitingRoom": "WaitingRoomView",
  ]

  /// Fields that no view reads, and fields that nothing in this library changes yet.
  static let unread: Set<String> = [
    "chat.moderations", "chat.noticeCount", "chat.busiestSecond", "chat.bookkeeping", "chat.notes",
    "control.committed", "control.bookkeeping", "header.liveSince", "header.viewersSampler",
    "header.sole", "header.bookkeeping", "liveRoomStats.sole",
    "liveRoomStats.samplers", "liveRoomStats.samples",
    "liveRoomStats.bestFrameRate", "liveRoomStats.droppedFrames", "liveRoomStats.levels",
    "poll.id", "poll.endsAt", "waitingRoom.unmatched", "waitingRoom.startsAt",
    "waitingRoom.pacing",
  ]

  /// Fields that change only with a flood, with the analysis of a chat, with requests to the room's
  /// recorder or to platforms, or with notes about people.
  static let floods: Set<String> = [
    "chat.chattersAtLeast", "chat.waves", "chat.folded", "chat.highlights", "recorder.work",
    "waitingRoom.leftOut", "chat.acts", "chat.notes",
  ]

  @Test
  func `a change of an ignored part evaluates only its own view, and only if the view reads it`() {
    let screen = DrawnHost(.ignored)
    var seen: Set<String> = []
    for action in ChildActions(seed: 7).prefix(3_000) {
      let (evaluated, changed) = screen.send(action)
      seen.formUnion(changed)
      var expected: Set<String> = []
      for path in changed {
        let parts = path.split(separator: ".").map(String.init)
        let view = parts.count == 1 ? "HostView" : Self.views[parts[0]] ?? "?"
        if screen.host.views.reads(of: view).contains(parts.last ?? "") { expected.insert(view) }
      }
      #expect(evaluated == expected.sorted(), "\(action): \(changed)")
    }
    #expect(
      seen.union(Self.floods).isSuperset(of: DrawnHost.childFields),
      "every field of every child was changed")
  }

  @Test func `a change of a tracked part evaluates the host and all parts, once each`() {
    let screen = DrawnHost(.tracked)
    for action in ChildActions(seed: 7).prefix(3_000) {
      let (evaluated, changed) = screen.send(action)
      let isSeen = changed.contains { path in
        ![".bookkeeping", ".samplers", ".viewersSampler", ".pacing", ".sole"]
          .contains(where: path.hasSuffix)
      }
      #expect(
        evaluated == (isSeen ? Self.views.values.sorted() + ["HostView"] : []).sorted(),
        "\(action): \(changed)")
    }
  }

  @Test func `the views read every field of the parts, except listed fields that are never shown`()
  {
    let screen = DrawnHost(.ignored)
    // A view may read a field only while another field has a certain value.
    var read: Set<String> = []
    for action in ChildActions(seed: 7).prefix(3_000) {
      _ = screen.send(action)
      for (child, view) in Self.views {
        read.formUnion(screen.host.views.reads(of: view).map { "\(child).\($0)" })
      }
    }
    #expect(read == DrawnHost.childFields.subtracting(Self.unread))
  }
}

/// The causes of evaluations.
struct CauseTests {
  @Test func `the cause of an evaluation names the action and the field`() {
    let screen = DrawnHost(.ignored)
    _ = screen.send(.header(.titleChanged("evening")))
    let record = screen.host.views.log.records(of: "HeaderView").last
    #expect(record?.triggers == [EvaluationTrigger(action: "header.titleChanged", field: "title")])
    #expect(record?.cause.kind == .ownRead)
    #expect(
      screen.host.views.statistics["HeaderView"]?.causes == [
        EvaluationReason(kind: .firstAppearance): 1,
        EvaluationReason(kind: .ownRead, action: "header.titleChanged", field: "title"): 1,
      ])
  }

  @Test func `a view evaluated with its parent names the cause of the parent's evaluation`() {
    let screen = DrawnHost(.tracked)
    _ = screen.send(.header(.titleChanged("evening")))
    let record = screen.host.views.log.records(of: "RecorderView").last
    #expect(record?.cause.kind == .changedInput)
    #expect(record?.isAvoidable == true)
    #expect(record?.triggers == [EvaluationTrigger(action: "header.titleChanged", field: "header")])
  }

  @Test func `if several actions change a field in one frame, the first is reported as the cause`()
  {
    let screen = DrawnHost(.ignored)
    _ = screen.send(
      .header(.titleChanged("one")), .header(.reacted(1)), .header(.titleChanged("two")))
    let record = screen.host.views.log.records(of: "HeaderView").last
    #expect(
      record?.triggers == [
        EvaluationTrigger(action: "header.titleChanged", field: "title"),
        EvaluationTrigger(action: "header.reacted", field: "likes"),
      ])
  }

  @Test func `a new part is reported as the cause of its parent's evaluation`() {
    let screen = DrawnHost(.ignored)
    _ = screen.send(.roomClosed)
    _ = screen.send(.chat(.messages([])))
    let record = screen.host.views.log.records(of: "HostView").last
    #expect(record?.cause.kind == .presence)
    #expect(record?.triggers == [EvaluationTrigger(action: "chat.messages", field: "chat")])
  }

  @Test func `the log of evaluations keeps the newest evaluations of each view, oldest first`() {
    let screen = DrawnHost(.ignored)
    for number in 1...100 { _ = screen.send(.header(.reacted(number))) }
    let frames = screen.host.views.log.records(of: "HeaderView").map(\.frame)
    #expect(frames.count == 64)
    #expect(frames == frames.sorted())
    #expect(frames.last == screen.host.views.frames)
  }
}

/// The settings with which a screen is created.
struct SettingsTests {
  @Test func `the chat keeps as many messages as the settings say`() {
    let screen = DrawnHost(.ignored, chatHistory: 3)
    for number in 1...5 {
      let message = ChatMessage(
        id: "m\(number)", userID: "u", userName: "Ann", text: "text \(number)")
      _ = screen.send(.chat(.messages([TimedMessage(timestamp: 0, message: message)])))
    }
    #expect(screen.host.store.state.chat?.messages.count == 3)
    #expect(screen.host.store.state.chat?.total == 5)
  }
}
