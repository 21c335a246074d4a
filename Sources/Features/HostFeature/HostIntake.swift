import ActivityFeature
import ChatFeature
import ControlFeature
import HeaderFeature
package import Intake
package import LiveEvents
import LiveRoomStatsFeature
import PollFeature
package import RateLimiting
import RecorderFeature
import SourcesFeature
import WaitingRoomFeature

/// The throttle stage of a room: hands each event to the intake of its part.
///
/// Order holds across the classes of one child. A change of the stream's state holds order across
/// all of them: whatever is held is given first, so that what came before it is still applied to a
/// child that it removes.
///
/// Not copyable: a class that holds one would copy it, with some dozens of reference counts, for
/// each question after what is pending, because the answer comes from another module. The questions are
/// mutating for the same reason: asked of a value that is only borrowed, its 2.4 KB would be moved to the
/// stack for each event.
package struct HostIntake: ~Copyable {
  package typealias Output = IntakeOutput<HostFeature.Action>

  private var activity = ChildIntake<ActivityIntake>(HostFeature.Action.activity)
  private var chat = ChildIntake<ChatIntake>(HostFeature.Action.chat)
  private var control = ChildIntake<ControlIntake>(HostFeature.Action.control)
  private var header = ChildIntake<HeaderIntake>(HostFeature.Action.header)
  private var liveRoomStats = ChildIntake<LiveRoomStatsIntake>(HostFeature.Action.liveRoomStats)
  private var poll = ChildIntake<PollIntake>(HostFeature.Action.poll)
  private var recorder = ChildIntake<RecorderIntake>(HostFeature.Action.recorder)
  private var sources = ChildIntake<SourcesIntake>(HostFeature.Action.sources)
  private var waitingRoom = ChildIntake<WaitingRoomIntake>(HostFeature.Action.waitingRoom)

  /// - Parameter state: of the screen that is restored. What an intake knows of the events that came
  ///   before is in it; what they held is not.
  package init(
    _ policies: ThrottlePolicies = ThrottlePolicies(), resuming state: HostFeature.State? = nil
  ) {
    if let state {
      control.intake.resume(state.control)
      poll.intake.show(state.phase.admitsPoll)
      poll.intake.resume(state.poll)
    }
    apply(policies)
  }

  /// Takes one event, and moves it into its part: a copy would retain all its texts. Where nothing is said to be
  /// consumed, the compiler makes one, and keeps it until the part has returned.
  package mutating func receive(
    _ event: consuming LiveEvent, at now: Instant, into output: inout Output
  ) {
    let time = event.timestamp
    let origin = event.origin
    let payload = (consume event).payload
    switch consume payload {
    case .chat(let event):
      chat.intake.origin = origin
      chat.receive(consume event, timestamp: time, at: now, into: &output)
    case .activity(let event):
      activity.intake.origin = origin
      activity.receive(consume event, timestamp: time, at: now, into: &output)
    case .control(let event):
      control.receive(consume event, timestamp: time, at: now, into: &output)
    case .header(let event): header.receive(consume event, timestamp: time, at: now, into: &output)
    case .liveRoomStats(let event):
      liveRoomStats.receive(consume event, timestamp: time, at: now, into: &output)
    case .poll(let event): poll.receive(consume event, timestamp: time, at: now, into: &output)
    case .recorder(let event):
      recorder.receive(consume event, timestamp: time, at: now, into: &output)
    case .source(let event): sources.receive(consume event, timestamp: time, at: now, into: &output)
    case .waitingRoom(let event):
      waitingRoom.receive(consume event, timestamp: time, at: now, into: &output)
    case .stream(let state):
      flush(at: now, into: &output)
      poll.intake.show(state.admitsPoll)
      output.apply(.stream(state, at: time))
    }
  }

  /// Has every child do the same, one after the other.
  private mutating func perform(_ operation: IntakeOperation, into output: inout Output) {
    activity.perform(operation, into: &output)
    chat.perform(operation, into: &output)
    control.perform(operation, into: &output)
    header.perform(operation, into: &output)
    liveRoomStats.perform(operation, into: &output)
    poll.perform(operation, into: &output)
    recorder.perform(operation, into: &output)
    sources.perform(operation, into: &output)
    waitingRoom.perform(operation, into: &output)
  }

  /// Events that are held: neither applied nor coalesced yet.
  package var pending: Int {
    mutating get {
      activity.held.count + chat.held.count + control.held.count + header.held.count
        + liveRoomStats.held.count + poll.held.count + recorder.held.count + sources.held.count
        + waitingRoom.held.count
    }
  }

  /// Events of one kind that are held.
  package mutating func pending(of kind: ThrottledKind) -> Int {
    switch kind {
    case .chat: chat.intake.pending
    case .waitingRoom: waitingRoom.intake.pending
    case .controls: control.intake.pendingMoves
    case .meters: control.intake.pendingLevels
    case .reactions: header.intake.pendingReactions
    case .viewers: header.intake.pendingViewers
    case .votes: poll.intake.pending
    case .statistics: liveRoomStats.intake.pending
    case .progress: recorder.intake.pending
    case .sources: sources.intake.pending
    case .goals: activity.intake.pending
    }
  }

  /// When ``wake(at:into:)`` has something to give at the latest; `nil` if nothing is held.
  package var deadline: Instant? {
    mutating get {
      var earliest = activity.held.deadline
      func note(_ deadline: Instant?) { earliest = .earlier(earliest, deadline) }
      note(chat.held.deadline)
      note(control.held.deadline)
      note(header.held.deadline)
      note(liveRoomStats.held.deadline)
      note(poll.held.deadline)
      note(recorder.held.deadline)
      note(sources.held.deadline)
      note(waitingRoom.held.deadline)
      return earliest
    }
  }

  /// Changes how long events may wait, from the next window of each throttle on. Events that are
  /// held keep the deadline that they were promised.
  package mutating func apply(_ policies: ThrottlePolicies) {
    var nothing = Output()
    perform(.apply(policies), into: &nothing)
  }

  /// Takes the measured cost of a frame: if frames are expensive, events wait longer, within the
  /// bounds of the policies.
  package mutating func note(cost: Interval) {
    var nothing = Output()
    perform(.note(cost: cost), into: &nothing)
  }

  /// Gives what is due at `now`; called once per frame, before the frame is drawn.
  package mutating func wake(at now: Instant, into output: inout Output) {
    perform(.wake(at: now), into: &output)
  }

  /// Gives everything that is held.
  package mutating func flush(at now: Instant, into output: inout Output) {
    perform(.flush(at: now), into: &output)
  }
}
