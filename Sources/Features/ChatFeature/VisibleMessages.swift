/// The messages that the host sees, oldest first: those that pass the filter; without one, in a chat that is
/// analysed, those that belong to no wave; otherwise all. All of these are kept in the state: which messages are
/// seen is not for a view to find out.
///
/// What was not looked at yet is seen at once, unless there is a wave: then most of it will be part of that.
struct VisibleMessages {
  private let first: MessageHistory
  /// Seen behind ``first``.
  private var rest: Slice<MessageHistory>?
  /// How many of both are seen: not those that are unread.
  private let end: Int

  init(
    filtered: MessageHistory?, folded: MessageHistory?, waves: Waves?,
    all: @autoclosure () -> MessageHistory, readUpTo: Int?
  ) {
    if let filtered {
      first = filtered
    } else if let folded, let waves {
      first = folded
      if waves.current.isEmpty {
        let all = all()
        rest = all[all.position(ofNumber: waves.through + 1)...]
      }
    } else {
      first = all()
    }
    let count = first.count + (rest?.count ?? 0)
    guard let readUpTo else {
      end = count
      return
    }
    let read =
      first.position(ofNumber: readUpTo + 1)
      + (rest.map { max(0, $0.base.position(ofNumber: readUpTo + 1) - $0.startIndex) } ?? 0)
    end = min(max(read, ChatView.rows), count)
  }

  /// The newest of them.
  func suffix(_ count: Int) -> [DisplayedMessage] {
    (max(0, end - count)..<end).map { position in
      if position < first.count { return first[position] }
      guard let rest else { preconditionFailure("there are no more messages than both have") }
      return rest[rest.startIndex + position - first.count]
    }
  }
}
