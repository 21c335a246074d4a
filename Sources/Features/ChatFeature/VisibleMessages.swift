/// The messages visible to the host, oldest first: with a filter, the messages that pass it;
/// otherwise in an analysed chat, the messages outside bursts of duplicates; otherwise all
/// messages. The state contains these lists, so that views need not compute them.
///
/// Messages that have not been analysed are visible immediately if there is no current burst.
/// During a burst they stay hidden until they are analysed, because most of them will belong to the
/// burst.
struct VisibleMessages {
  private let first: MessageHistory
  /// The messages shown after ``first``.
  private var rest: Slice<MessageHistory>?
  /// The number of visible messages in both lists, excluding unread messages.
  private let end: Int

  init(
    filtered: MessageHistory?, folded: MessageHistory?, bursts: Bursts?,
    all: @autoclosure () -> MessageHistory, readUpTo: Int?
  ) {
    if let filtered {
      first = filtered
    } else if let folded, let bursts {
      first = folded
      if bursts.current.isEmpty {
        let all = all()
        rest = all[all.position(ofNumber: bursts.through + 1)...]
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

  func suffix(_ count: Int) -> [DisplayedMessage] {
    (max(0, end - count)..<end).map { position in
      if position < first.count { return first[position] }
      guard let rest else { preconditionFailure("a position beyond both lists of messages") }
      return rest[rest.startIndex + position - first.count]
    }
  }
}
