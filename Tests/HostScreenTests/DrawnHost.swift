import ActivityFeature
import ChatFeature
import Composable
import ComposableTesting
import ControlFeature
import EncoderStatsFeature
import HeaderFeature
import HostFeature
import HostScreen
import LiveEvents
import PollFeature
import RateLimiting
import RecorderFeature
import SourcesFeature
import ViewGraph
import WaitingRoomFeature

/// A host's screen with all of its children, drawn on demand.
final class DrawnHost {
  let host: HostScreen
  private var evaluated: [String] = []
  private var changed: Set<String> = []
  private var time = Instant.origin

  /// The paths of all fields of all children.
  static var childFields: Set<String> {
    func paths(_ child: String, _ names: [String]) -> [String] { names.map { "\(child).\($0)" } }
    return Set(
      paths("activity", ActivityFeature.State._$fieldNames)
        + paths("chat", ChatFeature.State._$fieldNames)
        + paths("control", ControlFeature.State._$fieldNames)
        + paths("header", HeaderFeature.State._$fieldNames)
        + paths("liveRoomStats", EncoderStatsFeature.State._$fieldNames)
        + paths("poll", PollFeature.State._$fieldNames)
        + paths("recorder", RecorderFeature.State._$fieldNames)
        + paths("sources", SourcesFeature.State._$fieldNames)
        + paths("waitingRoom", WaitingRoomFeature.State._$fieldNames))
  }

  init(_ tracking: ChildTracking, chatHistory: Int = 500) {
    host = HostScreen(
      lane: DirectLane(), framesPerSecond: 60, tracking: tracking, chatHistory: chatHistory,
      clock: StillClock())
    host.store.send(contentsOf: [
      .chat(.messages([])), .waitingRoom(.changed([])),
      .liveRoomStats(.windowClosed(StatisticsWindow(samples: 0))),
      .poll(.began(PollQuestion(id: "p", title: "title", options: ["a", "b"]), at: 0)),
      .activity(.announced(Announcement(text: "text"), at: 0)),
      .sources(.reported(SourceHealth(source: "s", state: .connecting), at: 0)),
    ])
    draw()
    host.views.onEvaluation = { [unowned self] in evaluated.append($0.name) }
    host.store.onChanges { [unowned self] _, paths in changed.formUnion(paths) }
  }

  /// Sends actions and draws a frame. Returns the names of the evaluated views and the paths of the
  /// changed fields.
  func send(_ actions: HostFeature.Action...) -> (evaluated: [String], changed: Set<String>) {
    evaluated = []
    changed = []
    host.store.send(contentsOf: actions)
    draw()
    return (evaluated.sorted(), changed)
  }

  private func draw() {
    time = time + .milliseconds(17)
    host.drawFrame(at: time)
  }
}

final class StillClock: EvaluationClock {
  let now: UInt64 = 0
}
