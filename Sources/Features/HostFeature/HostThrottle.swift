import ActivityFeature
import ChatFeature
import ControlFeature
import EncoderStatsFeature
package import HeaderFeature
package import LiveEvents
import PollFeature
package import RateLimiting
import RecorderFeature
import SourcesFeature
package import Throttling
import WaitingRoomFeature

/// The throttle stage of a room, which passes each event to the throttle of its part.
///
/// Events of one part keep their order across throttling classes. A change of the stream's state
/// keeps its place among the events of all parts: all held events are output first, so that earlier
/// events still reach a child that the change removes.
///
/// Not copyable. If the type were copyable, each query of pending events would copy the throttle
/// out of its owner, with dozens of reference counts, because the owner is in another module. For
/// the same reason, queries are mutating: on a borrowed value, each query would move its 2.4 KB to
/// the stack.
package struct HostThrottle: ~Copyable {
  package typealias Output = ThrottleOutput<HostFeature.Action>

  private var activity = ChildThrottle<ActivityThrottle>(HostFeature.Action.activity)
  private var chat = ChildThrottle<ChatThrottle>(HostFeature.Action.chat)
  private var control = ChildThrottle<ControlThrottle>(HostFeature.Action.control)
  private var header = ChildThrottle<HeaderThrottle>(HostFeature.Action.header)
  private var liveRoomStats = ChildThrottle<EncoderStatsThrottle>(HostFeature.Action.liveRoomStats)
  private var poll = ChildThrottle<PollThrottle>(HostFeature.Action.poll)
  private var recorder = ChildThrottle<RecorderThrottle>(HostFeature.Action.recorder)
  private var sources = ChildThrottle<SourcesThrottle>(HostFeature.Action.sources)
  private var waitingRoom = ChildThrottle<WaitingRoomThrottle>(HostFeature.Action.waitingRoom)
  /// The phases of the sources, including phases that have not reached the state yet.
  private var phases = StreamPhases()

  /// - Parameter state: The state of the restored screen, which contains what the throttles must
  ///   remember of earlier events. Events that the throttles held are not part of this state.
  package init(
    _ policies: ThrottlePolicies = ThrottlePolicies(), resuming state: HostFeature.State? = nil
  ) {
    if let state {
      control.throttle.resume(state.control)
      poll.throttle.show(state.phase.admitsPoll)
      poll.throttle.resume(state.poll)
      phases = state.header.phases
    }
    apply(policies)
  }

  /// Receives one event, and moves it into its part, because a copy would retain all its texts.
  /// Without the explicit `consume`, the compiler makes a copy and keeps it until the part has
  /// returned.
  package mutating func receive(
    _ event: consuming LiveEvent, at now: Instant, into output: inout Output
  ) {
    let time = event.timestamp
    let origin = event.origin
    let payload = (consume event).payload
    switch consume payload {
    case .chat(let event):
      chat.throttle.origin = origin
      chat.receive(consume event, timestamp: time, at: now, into: &output)
    case .activity(let event):
      activity.throttle.origin = origin
      activity.receive(consume event, timestamp: time, at: now, into: &output)
    case .control(let event):
      control.receive(consume event, timestamp: time, at: now, into: &output)
    case .header(let event):
      header.throttle.origin = origin
      phases.record(origin)
      header.receive(consume event, timestamp: time, at: now, into: &output)
    case .liveRoomStats(let event):
      liveRoomStats.throttle.origin = origin
      liveRoomStats.receive(consume event, timestamp: time, at: now, into: &output)
    case .poll(let event): poll.receive(consume event, timestamp: time, at: now, into: &output)
    case .recorder(let event):
      recorder.receive(consume event, timestamp: time, at: now, into: &output)
    case .source(let event): sources.receive(consume event, timestamp: time, at: now, into: &output)
    case .waitingRoom(let event):
      waitingRoom.receive(consume event, timestamp: time, at: now, into: &output)
    case .stream(let state):
      flush(at: now, into: &output)
      phases.record(state, from: origin)
      if let phase = phases.shown { poll.throttle.show(phase.admitsPoll) }
      output.apply(.stream(state, at: time, from: origin))
    }
  }

  /// Adopts the phases of the header's state after a tick has changed them. Does nothing in a room
  /// with one source.
  package mutating func follow(_ header: HeaderFeature.State) {
    guard header.parts != nil else { return }
    phases = header.phases
    if let phase = phases.shown { poll.throttle.show(phase.admitsPoll) }
  }

  /// Performs an operation on the throttle of every part in sequence.
  private mutating func perform(_ operation: ThrottleOperation, into output: inout Output) {
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

  /// The number of held events, which are neither applied nor coalesced yet.
  package var pending: Int {
    mutating get {
      activity.held.count + chat.held.count + control.held.count + header.held.count
        + liveRoomStats.held.count + poll.held.count + recorder.held.count + sources.held.count
        + waitingRoom.held.count
    }
  }

  package mutating func pending(of kind: ThrottledKind) -> Int {
    switch kind {
    case .chat: chat.throttle.pending
    case .waitingRoom: waitingRoom.throttle.pending
    case .controls: control.throttle.pendingMoves
    case .meters: control.throttle.pendingLevels
    case .reactions: header.throttle.pendingReactions
    case .viewers: header.throttle.pendingViewers
    case .votes: poll.throttle.pending
    case .statistics: liveRoomStats.throttle.pending
    case .progress: recorder.throttle.pending
    case .sources: sources.throttle.pending
    case .goals: activity.throttle.pending
    }
  }

  /// The time at which ``wake(at:into:)`` must be called to output held events, or `nil` if nothing
  /// is held.
  package var deadline: Instant? {
    mutating get {
      var earliest = activity.held.deadline
      func include(_ deadline: Instant?) { earliest = .earlier(earliest, deadline) }
      include(chat.held.deadline)
      include(control.held.deadline)
      include(header.held.deadline)
      include(liveRoomStats.held.deadline)
      include(poll.held.deadline)
      include(recorder.held.deadline)
      include(sources.held.deadline)
      include(waitingRoom.held.deadline)
      return earliest
    }
  }

  /// Changes how long events may wait, starting with the next window of each throttle. Held events
  /// keep their deadline.
  package mutating func apply(_ policies: ThrottlePolicies) {
    var nothing = Output()
    perform(.apply(policies), into: &nothing)
  }

  /// Records the measured cost of a frame. If frames are expensive, events wait longer, within the
  /// bounds of the policies.
  package mutating func record(cost: Interval) {
    var nothing = Output()
    perform(.record(cost: cost), into: &nothing)
  }

  /// Outputs the actions that are due at `now`. Called once per frame, before the frame is drawn.
  package mutating func wake(at now: Instant, into output: inout Output) {
    perform(.wake(at: now), into: &output)
  }

  /// Outputs the actions of all held events.
  package mutating func flush(at now: Instant, into output: inout Output) {
    perform(.flush(at: now), into: &output)
  }
}
