import ChatFeature
import ComposableTesting
import ControlFeature
import HeaderFeature
import HostFeature
import HostScreen
import LiveEvents
import LiveRoomStatsFeature
import RateLimiting
import RecorderFeature
import Testing
import ViewGraph
import WaitingRoomFeature

/// Which views a change of a child evaluates, with and without tracking of the children.
struct TrackingTests {
  /// One change for each field that the view of a child reads.
  static let changes: [(view: String, action: HostFeature.Action)] = [
    ("ChatView", .chat(.messages([message("m2")]))),
    ("ChatView", .chat(.messageDeleted("m1", at: 0))),
    ("ControlView", .control(.tapped(control: "camera", on: true))),
    ("ControlView", .control(.meterRead(input: "mic", levels: [0.5]))),
    ("HeaderView", .header(.titleChanged("evening"))),
    ("HeaderView", .header(.viewersChanged(count: 12, peak: 20))),
    ("HeaderView", .header(.reacted(3))),
    ("LiveRoomStatsView", .liveRoomStats(.windowClosed(StatisticsWindow(samples: 2)))),
    ("RecorderView", .recorder(.stateChanged(.starting))),
    ("WaitingRoomView", .waitingRoom(.changed([.left(person)]))),
  ]

  @Test(arguments: changes.indices)
  func `Ignored: a change of a child evaluates its view once, and no other`(index: Int) {
    let (view, action) = Self.changes[index]
    let screen = Screen(.ignored)
    #expect(screen.evaluated(action) == [view])
  }

  @Test(arguments: changes.indices)
  func `Tracked: it evaluates the host and the children that the host rebuilds, once each`(
    index: Int
  ) {
    let screen = Screen(.tracked)
    #expect(
      screen.evaluated(Self.changes[index].action) == [
        "ChatView", "ControlView", "HeaderView", "HostView", "LiveRoomStatsView", "RecorderView",
        "WaitingRoomView",
      ])
  }

  @Test func `The cause of an evaluation names the action and the field`() {
    let screen = Screen(.ignored)
    _ = screen.evaluated(.header(.titleChanged("evening")))
    let record = screen.host.views.log.records(of: "HeaderView").last
    #expect(record?.triggers == [EvaluationTrigger(action: "header.titleChanged", field: "title")])
    #expect(record?.cause.kind == .ownRead)
  }

  @Test func `A view that its parent drags along says what had the parent evaluated`() {
    let screen = Screen(.tracked)
    _ = screen.evaluated(.header(.titleChanged("evening")))
    let record = screen.host.views.log.records(of: "RecorderView").last
    #expect(record?.cause.kind == .changedInput)
    #expect(record?.isAvoidable == true)
    #expect(record?.triggers == [EvaluationTrigger(action: "header.titleChanged", field: "header")])
  }

  @Test func `Of several actions that change a field in one frame the first is the cause`() {
    let screen = Screen(.ignored)
    screen.host.store.send(contentsOf: [
      .header(.titleChanged("one")), .header(.reacted(1)), .header(.titleChanged("two")),
    ])
    screen.host.drawFrame(at: .origin + .milliseconds(500))
    let record = screen.host.views.log.records(of: "HeaderView").last
    #expect(
      record?.triggers == [
        EvaluationTrigger(action: "header.titleChanged", field: "title"),
        EvaluationTrigger(action: "header.reacted", field: "likes"),
      ])
  }

  private static var person: Person { Person(id: "u1", name: "Ann") }

  private static func message(_ id: Text) -> TimedMessage {
    TimedMessage(
      timestamp: 0, message: ChatMessage(id: id, userID: "u1", userName: "Ann", text: "hi"))
  }

  /// A screen on which all six children stand.
  private final class Screen {
    let host: HostScreen
    private var evaluated: [String] = []

    init(_ tracking: ChildTracking) {
      host = HostScreen(
        lane: ManualLane(), framesPerSecond: 60, tracking: tracking, clock: StillClock())
      host.store.send(contentsOf: [
        .chat(.messages([message("m1")])), .waitingRoom(.changed([.joined(person)])),
        .liveRoomStats(.windowClosed(StatisticsWindow(samples: 1))),
      ])
      host.drawFrame(at: .origin + .milliseconds(100))
      host.views.onEvaluation = { [unowned self] in evaluated.append($0.name) }
    }

    /// The views that a frame evaluates after `action`, by name.
    func evaluated(_ action: HostFeature.Action) -> [String] {
      evaluated = []
      host.store.send(action)
      host.drawFrame(at: .origin + .milliseconds(200))
      return evaluated.sorted()
    }
  }

  private final class StillClock: ScreenClock {
    let now: UInt64 = 0
  }
}
