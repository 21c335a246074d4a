import ChatFeature
import LiveEvents

/// Returns a message from `user`. The identifier is derived from `id`, and the text contains both.
func message(
  _ id: Int, by user: String = "ann", at time: Timestamp = 1_000, _ text: String? = nil,
  answering answered: Int? = nil
) -> TimedMessage {
  TimedMessage(
    timestamp: time,
    message: ChatMessage(
      id: "m\(id)", userID: user, userName: user.uppercased(), text: text ?? "\(user) says \(id)",
      replyTo: answered.map { "m\($0)" } ?? ""))
}

func timeout(_ user: String) -> ChatTimeout {
  ChatTimeout(user: Person(id: Text(user), name: Text(user)), seconds: 10)
}

func notice(
  _ kind: ChatNotice.Kind, count: Int = 1, group: String? = nil, by user: String = "ann"
) -> ChatNotice {
  ChatNotice(
    kind: kind, user: Person(id: Text(user), name: Text(user.uppercased())), count: count,
    group: group.map { Text($0) })
}

extension ChatFeature.State {
  mutating func apply(_ actions: ChatFeature.Action...) {
    for action in actions { _ = ChatFeature().reduce(into: &self, action: action) }
  }

  /// The identifiers of the displayed messages, oldest first.
  var shown: [String] { messages.map { String($0.message.id) } }

  /// The identifiers of the filtered messages, and of the open thread.
  var passing: [String]? { filtered?.map { String($0.message.id) } }
  var inThread: [String]? { thread?.messages.map { String($0.message.id) } }
}
