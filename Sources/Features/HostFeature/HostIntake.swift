package import ChatFeature
package import ControlFeature
package import HeaderFeature
package import Intake
package import LiveEvents
package import LiveRoomStatsFeature
package import RateLimiting
package import RecorderFeature
package import WaitingRoomFeature

/// The throttle stage of a room: hands each event to the intake of the child whose it is.
///
/// Order holds across the classes of one child. A change of the stream's phase holds order across all
/// of them: whatever is held is given first, so that what came before it is still applied to a child
/// that it removes.
package struct HostIntake: Intake {
  package typealias Action = HostFeature.Action

  private var chat: ChildIntake<ChatIntake>
  private var control: ChildIntake<ControlIntake>
  private var header: ChildIntake<HeaderIntake>
  private var liveRoomStats: ChildIntake<LiveRoomStatsIntake>
  private var recorder: ChildIntake<RecorderIntake>
  private var waitingRoom: ChildIntake<WaitingRoomIntake>

  package init(
    chat: ChatIntake = ChatIntake(), control: ControlIntake = ControlIntake(),
    header: HeaderIntake = HeaderIntake(),
    liveRoomStats: LiveRoomStatsIntake = LiveRoomStatsIntake(),
    recorder: RecorderIntake = RecorderIntake(),
    waitingRoom: WaitingRoomIntake = WaitingRoomIntake()
  ) {
    self.chat = ChildIntake(chat, Action.chat)
    self.control = ChildIntake(control, Action.control)
    self.header = ChildIntake(header, Action.header)
    self.liveRoomStats = ChildIntake(liveRoomStats, Action.liveRoomStats)
    self.recorder = ChildIntake(recorder, Action.recorder)
    self.waitingRoom = ChildIntake(waitingRoom, Action.waitingRoom)
  }

  package var pending: Int {
    chat.pending + control.pending + header.pending + liveRoomStats.pending + recorder.pending
      + waitingRoom.pending
  }

  package var deadline: Instant? {
    var earliest = Instant.earlier(chat.deadline, control.deadline)
    earliest = .earlier(earliest, header.deadline)
    earliest = .earlier(earliest, liveRoomStats.deadline)
    earliest = .earlier(earliest, recorder.deadline)
    return .earlier(earliest, waitingRoom.deadline)
  }

  package mutating func apply(_ policies: ThrottlePolicies) {
    chat.apply(policies)
    control.apply(policies)
    header.apply(policies)
    liveRoomStats.apply(policies)
    recorder.apply(policies)
    waitingRoom.apply(policies)
  }

  package mutating func note(cost: Interval) {
    chat.note(cost: cost)
    control.note(cost: cost)
    header.note(cost: cost)
    liveRoomStats.note(cost: cost)
    recorder.note(cost: cost)
    waitingRoom.note(cost: cost)
  }

  package mutating func receive(
    _ event: LiveEvent, at now: Instant, into output: inout IntakeOutput<Action>
  ) {
    switch event.payload {
    case .chatMessage, .chatDelete, .chatClear, .chatTimeout, .chatNotice, .chatModes,
      .host(.filterChat), .host(.highlight), .host(.scroll), .host(.openThread), .host(.notice):
      chat.receive(event, at: now, into: &output)
    case .slider, .tap, .meter, .host(.set):
      control.receive(event, at: now, into: &output)
    case .reaction, .viewers, .title:
      header.receive(event, at: now, into: &output)
    case .stats:
      liveRoomStats.receive(event, at: now, into: &output)
    case .recorderState, .recorderProgress:
      recorder.receive(event, at: now, into: &output)
    case .waitingJoin, .waitingLeave, .waitingAdmit, .waitingSchedule, .waitingCapacity,
      .host(.admit):
      waitingRoom.receive(event, at: now, into: &output)
    case .stream(let phase):
      flush(at: now, into: &output)
      output.apply(.stream(phase, at: event.timestamp))
    }
  }

  package mutating func wake(at now: Instant, into output: inout IntakeOutput<Action>) {
    chat.wake(at: now, into: &output)
    control.wake(at: now, into: &output)
    header.wake(at: now, into: &output)
    liveRoomStats.wake(at: now, into: &output)
    recorder.wake(at: now, into: &output)
    waitingRoom.wake(at: now, into: &output)
  }

  package mutating func flush(at now: Instant, into output: inout IntakeOutput<Action>) {
    chat.flush(at: now, into: &output)
    control.flush(at: now, into: &output)
    header.flush(at: now, into: &output)
    liveRoomStats.flush(at: now, into: &output)
    recorder.flush(at: now, into: &output)
    waitingRoom.flush(at: now, into: &output)
  }
}
