import ActivityFeature
import ChatFeature
import Composable
import ControlFeature
import ControlInterface
import HostFeature
import HostScreen
import LiveEvents
import WaitingRoomFeature

// Acts of the host by calls: events that came by no line.
extension Room {
  /// Performs an act and returns its outcome.
  func act(_ act: LiveEvent.Payload) -> Result<HostReply, ControlError> {
    switch act {
    case .chat(let event): performInChat(event)
    case .control(let event): performOnPanel(event)
    case .activity(.handle(let number, let handling)): handle(activity: number, handling)
    case .waitingRoom(.admit(let admission)): admit(admission)
    // Not listed by part: an event that has no answer of its own needs none here.
    default: perform(act) ? .success(HostReply()) : .failure(.limitReached("events"))
    }
  }

  private var chat: ChatFeature.State? { screen.store.state.chat }

  /// The identifiers of a message of the chat and of its author; `nil` if it is not kept.
  func message(numbered number: Int) -> (identifier: Text, author: Text)? {
    let message = chat?.messages.last { $0.number == number }?.message
    return message.map { ($0.id, $0.userID) }
  }

  /// Calls `body` once the history has been looked through for the names and the filter in force,
  /// which takes some frames if it is long.
  func whenReviewed(_ body: @escaping (Room) -> Void) {
    if chat?.isReviewing == true { waitingForReview.append(body) } else { body(self) }
  }

  /// A reply with what it counts in the history counted again.
  func counted(_ reply: HostReply) -> HostReply {
    var reply = reply
    if reply.passing != nil { reply.passing = (chat?.filtered ?? chat?.messages)?.count ?? 0 }
    if reply.mentions != nil { reply.mentions = chat?.messages.count(where: \.isMention) ?? 0 }
    return reply
  }

  private func performInChat(_ event: ChatEvent) -> Result<HostReply, ControlError> {
    switch event {
    case .openThread(let messageID): return openThread(messageID)
    case .handleNotice(let number, let handling): return handle(notice: number, handling)
    case .message, .delete, .clear, .timeout, .notice, .modes, .filter, .highlight, .scroll,
      .findings:
      break
    }
    _ = perform(.chat(event))
    var reply = HostReply()
    switch event {
    case .filter: reply.passing = 0
    case .highlight: reply.mentions = 0
    case .scroll: reply.unread = chat?.unread ?? 0
    case .message, .delete, .clear, .timeout, .notice, .modes, .openThread, .handleNotice,
      .findings:
      break
    }
    return .success(counted(reply))
  }

  private func performOnPanel(_ event: ControlEvent) -> Result<HostReply, ControlError> {
    if case .record = event, !hasRecorderElsewhere {
      return .failure(.noSurface(room: name.description, control: ControlFeature.recorder))
    }
    // The only reason to refuse one is a name too many: strangers choose them, so they are bounded.
    guard perform(.control(event)) else { return .failure(.limitReached("controls")) }
    let panel = screen.store.state.control
    switch event {
    case .set(let control, let value):
      return .success(HostReply(value: panel.values[String(control)] ?? value))
    case .tap(let control, _):
      return .success(HostReply(on: panel.switches[String(control)]))
    case .slider, .meter, .state, .record, .surface, .outcome: return .success(HostReply())
    }
  }

  private var hasRecorderElsewhere: Bool {
    screen.store.state.control.requests?.surface(for: ControlFeature.recorder) != nil
  }

  private func admit(_ admission: Admission) -> Result<HostReply, ControlError> {
    admitted.people = []
    _ = perform(.waitingRoom(.admit(admission)))
    let people = exchange(&admitted.people, with: nil) ?? []
    let waiting = screen.store.state.waitingRoom
    if people.isEmpty {
      let isFull: Bool
      let user: String?
      switch admission {
      case .person(let id): (isFull, user) = (waiting?.people.contains(id) == true, String(id))
      case .next, .all: (isFull, user) = (waiting?.people.isEmpty == false, nil)
      }
      if isFull {
        return .failure(.roomFull(room: name.description, capacity: waiting?.capacity ?? 0))
      }
      // Admitting all while no one is waiting is not an error.
      if admission != .all {
        return .failure(.nobodyWaits(room: name.description, user: user))
      }
    }
    return .success(
      HostReply(
        people: people.map(UserReport.init),
        waiting: waiting?.people.count ?? 0, admitted: waiting?.admitted ?? 0))
  }

  private func openThread(_ messageID: Text?) -> Result<HostReply, ControlError> {
    if chat != nil { _ = perform(.chat(.openThread(messageID: messageID))) }
    if let messageID, chat?.messages.newest(withID: messageID) == nil {
      return .failure(
        .noSuchMessage(room: name.description, message: String(messageID)))
    }
    return .success(
      HostReply(messages: chat?.thread?.messages.map(ChatMessageReport.init) ?? []))
  }

  private func handle(
    notice number: Int, _ handling: NoticeHandling
  ) -> Result<HostReply, ControlError> {
    guard chat?.notices.entries.contains(where: { $0.number == number }) == true else {
      return .failure(.noSuchNotice(room: name.description, notice: number))
    }
    _ = perform(.chat(.handleNotice(number: number, handling)))
    let shown = chat?.notices.entries.first { $0.number == number }
    if handling == .pin, shown?.isPinned != true {
      return .failure(.limitReached("pinned notices"))
    }
    return .success(HostReply())
  }

  private func handle(
    activity number: Int, _ handling: NoticeHandling
  ) -> Result<HostReply, ControlError> {
    func row() -> ActivityRow? {
      screen.store.state.activity?.feed.rows.first { $0.number == number }
    }
    guard row() != nil else {
      return .failure(.noSuchActivity(room: name.description, activity: number))
    }
    _ = perform(.activity(.handle(number: number, handling)))
    if handling == .pin, row()?.isPinned != true {
      return .failure(.limitReached("pinned rows of the activity feed"))
    }
    return .success(HostReply())
  }
}
