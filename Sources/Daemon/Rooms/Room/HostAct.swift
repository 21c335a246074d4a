import ActivityFeature
import ChatFeature
import Composable
import ControlFeature
import ControlInterface
import HostFeature
import LiveEvents
import WaitingRoomFeature

/// An act that a client performs as a room's host, and its result.
///
/// The room applies the act between ``result(before:)`` and ``result(in:isPerformed:admitted:)``.
/// No copy of the state is kept meanwhile, because a second reference would make the change copy
/// the state.
struct HostAct {
  typealias State = HostFeature.State

  let room: RoomName
  let event: LiveEvent.Payload

  // MARK: Results

  /// Returns the result of an act that must not be applied; `nil` if the act must be applied.
  func result(before state: State) -> Result<HostReply, ControlError>? {
    switch event {
    case .chat(.openThread(let message)):
      state.chat == nil ? threadReply(message, in: state) : nil
    case .chat(.openPerson(nil)): state.chat == nil ? .success(HostReply()) : nil
    case .chat(.handleNotice(let number, _)):
      notice(number, in: state) == nil
        ? .failure(.noSuchNotice(room: room.description, notice: number)) : nil
    case .activity(.handle(let number, _)):
      activity(number, in: state) == nil
        ? .failure(.noSuchActivity(room: room.description, activity: number)) : nil
    case .control(.record):
      state.control.requests?.controller(for: ControlFeature.recorder) == nil
        ? .failure(.noSurface(room: room.description, control: ControlFeature.recorder)) : nil
    case .control(.act(let request)): refusal(of: request, in: state).map { .failure($0) }
    // For any other act, the result is known only after it was applied.
    default: nil
    }
  }

  /// Returns the result of an act from the state after it. The screen refuses an act only if a
  /// limit is exceeded. `admitted` are the people whom the act admitted from the waiting room.
  func result(
    in state: State, isPerformed: Bool, admitted: [Person]
  ) -> Result<HostReply, ControlError> {
    switch event {
    case .chat(.openThread(let message)): threadReply(message, in: state)
    case .chat(.handleNotice(let number, .pin))
    where notice(number, in: state)?.isPinned != true:
      .failure(.limitReached("pinned notices"))
    case .chat(let event): .success(withCounts(reply(to: event, in: state), in: state))
    // Strangers choose the names of controls, so their number is limited.
    case .control where !isPerformed: .failure(.limitReached("controls"))
    case .control(let event): .success(reply(to: event, in: state))
    case .activity(.handle(let number, .pin))
    where activity(number, in: state)?.isPinned != true:
      .failure(.limitReached("pinned rows of the activity feed"))
    case .activity(.handle): .success(HostReply())
    case .waitingRoom(.admit(let admission)):
      result(of: admission, admitted: admitted, in: state.waitingRoom)
    // The reply to any other act is empty.
    default: isPerformed ? .success(HostReply()) : .failure(.limitReached("events"))
    }
  }

  /// Returns a reply with up-to-date counts of the chat's history.
  func withCounts(_ reply: HostReply, in state: State) -> HostReply {
    var reply = reply
    let chat = state.chat
    if reply.passing != nil { reply.passing = (chat?.filtered ?? chat?.messages)?.count ?? 0 }
    if reply.mentions != nil { reply.mentions = chat?.messages.count(where: \.isMention) ?? 0 }
    return reply
  }

  private func reply(to event: ChatEvent, in state: State) -> HostReply {
    var reply = HostReply()
    switch event {
    case .filter: reply.passing = 0
    case .highlight: reply.mentions = 0
    case .scroll: reply.unread = state.chat?.unread ?? 0
    case .openPerson: reply.person = state.chat?.card.map(PersonCardReport.init)
    case .message, .delete, .clear, .timeout, .notice, .modes, .openThread, .notePerson,
      .handleNotice, .findings:
      break
    }
    return reply
  }

  private func reply(to event: ControlEvent, in state: State) -> HostReply {
    switch event {
    case .set(let control, let value):
      HostReply(value: state.control.values[String(control)] ?? value)
    case .tap(let control, _): HostReply(on: state.control.switches[String(control)])
    case .slider, .meter, .state, .record, .act, .controller, .outcome: HostReply()
    }
  }

  private func threadReply(_ message: Text?, in state: State) -> Result<HostReply, ControlError> {
    if let message, state.chat?.messages.newest(withID: message) == nil {
      return .failure(.noSuchMessage(room: room.description, message: String(message)))
    }
    return .success(
      HostReply(messages: state.chat?.thread?.messages.map(ChatMessageReport.init) ?? []))
  }

  private func result(
    of admission: Admission, admitted people: [Person], in waiting: WaitingRoomFeature.State?
  ) -> Result<HostReply, ControlError> {
    if people.isEmpty {
      let (isWaiting, user): (Bool, String?) =
        switch admission {
        case .person(let id): (waiting?.people.contains(id) == true, String(id))
        case .next, .all: (waiting?.people.isEmpty == false, nil)
        }
      if isWaiting {
        return .failure(.roomFull(room: room.description, capacity: waiting?.capacity ?? 0))
      }
      // Admitting everyone is not an error if nobody is waiting.
      if admission != .all {
        return .failure(.nobodyWaits(room: room.description, user: user))
      }
    }
    return .success(
      HostReply(
        people: people.map(UserReport.init),
        waiting: waiting?.people.count ?? 0, admitted: waiting?.admitted ?? 0))
  }

  private func notice(_ number: Int, in state: State) -> DisplayedNotice? {
    state.chat?.notices.entries.first { $0.number == number }
  }

  private func activity(_ number: Int, in state: State) -> ActivityRow? {
    state.activity?.feed.rows.first { $0.number == number }
  }

  // MARK: Requests

  /// Returns the number of the outstanding request for the control that the act changes, or of the
  /// newest act on a platform; `nil` if there is none.
  func request(in state: State) -> Int? {
    switch event {
    case .control(.set(let control, _)), .control(.tap(let control, _)):
      state.control.requests?.outstanding(for: String(control))?.number
    case .control(.record):
      state.control.requests?.outstanding(for: ControlFeature.recorder)?.number
    case .control(.act):
      state.control.requests?.outstanding.last { $0.command.act != nil }?.number
    // Controllers confirm no other acts.
    default: nil
    }
  }

  /// Returns the reply to an act that became a request, after its outcome.
  func reply(after outcome: RequestOutcome, in state: State) -> HostReply {
    var reply = HostReply()
    switch event {
    case .control(.set(let control, _)): reply.value = state.control.values[String(control)]
    case .control(.tap(let control, _)): reply.on = state.control.switches[String(control)]
    default: break
    }
    (reply.outcome, reply.reason) = (OutcomeReport(outcome), outcome.reason)
    return reply
  }
}
