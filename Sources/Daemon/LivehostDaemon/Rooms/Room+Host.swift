import ChatFeature
import Composable
import ControlFeature
import ControlInterface
import HostFeature
import HostScreen
import LiveEvents
import WaitingRoomFeature

// What the host does by calls. Each is an event that came by no line.
extension Room {
  /// Commits a value of a slider, or sets a switch.
  func set(_ control: String, _ setting: ControlSetting) -> Result<ControlSetting, ControlError> {
    switch setting {
    case .value(let value):
      // Refused is only one name too many: strangers choose them, and so they are bounded.
      guard perform(.control(.set(control: Text(control), value: value))) else {
        return .failure(.limitReached("controls"))
      }
      return .success(.value(screen.store.state.control.values[control] ?? value))
    case .position(let on):
      guard perform(.control(.tap(control: Text(control), on: on))) else {
        return .failure(.limitReached("controls"))
      }
      return .success(.position(screen.store.state.control.switches[control]))
    }
  }

  func act(_ act: HostAct) -> Result<HostReply, ControlError> {
    switch act {
    case .admit(let user, let all): return admit(user, all)
    case .filterChat(let filter):
      perform(
        filter: MessageFilter(
          person: filter.user.map { Text($0) }, words: filter.words.map { Text($0) },
          mentionsOnly: filter.mentionsOnly ?? false))
      return .success(HostReply(passing: (chat?.filtered ?? chat?.messages)?.count ?? 0))
    case .highlight(let names):
      _ = perform(.chat(.highlight(names: names.map { Text($0) })))
      return .success(HostReply(mentions: chat?.messages.count(where: \.isMention) ?? 0))
    case .scroll(let position):
      _ = perform(.chat(.scroll(position == .back ? .back : .end)))
      return .success(HostReply(unread: chat?.unread ?? 0))
    case .openThread(let message): return openThread(message)
    case .handleNotice(let number, let handling): return handle(notice: number, handling)
    }
  }

  private var chat: ChatFeature.State? { screen.store.state.chat }

  private func perform(filter: MessageFilter) { _ = perform(.chat(.filter(filter))) }

  private func admit(_ user: String?, _ all: Bool) -> Result<HostReply, ControlError> {
    admitted.people = []
    let admission: Admission = user.map { .person(Text($0)) } ?? (all ? .all : .next)
    _ = perform(.waitingRoom(.admit(admission)))
    let people = exchange(&admitted.people, with: [])
    let waiting = screen.store.state.waitingRoom
    let isWaiting = user.map { waiting?.people.contains(Text($0)) == true } ?? false
    if people.isEmpty, let waiting, isWaiting || (user == nil && !waiting.people.isEmpty) {
      return .failure(.roomFull(room: name.description, capacity: waiting.capacity ?? 0))
    }
    // Nobody is all there are.
    if people.isEmpty, !all { return .failure(.nobodyWaits(room: name.description, user: user)) }
    return .success(
      HostReply(
        people: people.map(UserReport.init),
        waiting: waiting?.people.count ?? 0, admitted: waiting?.admitted ?? 0))
  }

  private func openThread(_ message: String?) -> Result<HostReply, ControlError> {
    if chat != nil { _ = perform(.chat(.openThread(messageID: message.map { Text($0) }))) }
    if let message, chat?.messages.newest(withID: Text(message)) == nil {
      return .failure(.noSuchMessage(room: name.description, message: message))
    }
    return .success(
      HostReply(messages: chat?.thread?.messages.map(ChatMessageReport.init) ?? []))
  }

  private func handle(
    notice number: Int, _ handling: NoticeHandlingReport
  ) -> Result<HostReply, ControlError> {
    guard chat?.notices.entries.contains(where: { $0.number == number }) == true else {
      return .failure(.noSuchNotice(room: name.description, notice: number))
    }
    let event: NoticeHandling =
      switch handling {
      case .pin: .pin
      case .unpin: .unpin
      case .dismiss: .dismiss
      }
    _ = perform(.chat(.handleNotice(number: number, event)))
    let shown = chat?.notices.entries.first { $0.number == number }
    if handling == .pin, shown?.isPinned != true {
      return .failure(.limitReached("pinned notices"))
    }
    return .success(HostReply())
  }
}
