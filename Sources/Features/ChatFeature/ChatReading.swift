package import LiveEvents

extension ChatFeature {
  /// Host actions that change which part of the chat is visible.
  package enum Reading: Equatable, Sendable {
    /// The host has scrolled back to older messages, so new messages are unread.
    case scrolledBack
    case scrolledToEnd
    /// Shows only messages that pass the filter; `nil` shows all messages.
    indirect case filterChanged(ChatFilter?)
    case mentionedNamesChanged([String])
    /// Opens the thread that contains the message with this identifier from the source.
    case threadOpened(messageID: Text)
    case threadClosed
    /// Opens the card of a person. Boxed, because the action is rare and larger than others.
    indirect case personOpened(PersonReference)
    case personClosed
    /// The host wrote or removed a note about a person.
    indirect case personNoted(PersonNote)
    case noticePinned(Int)
    case noticeUnpinned(Int)
    case noticeDismissed(Int)
  }

  func read(_ reading: Reading, in state: inout State) {
    switch reading {
    case .scrolledBack:
      if state.readUpTo == nil { state.readUpTo = state.total }
    case .scrolledToEnd:
      catchUp(&state)
    case .filterChanged(let filter):
      // An empty filter counts as none, because it would only require a second, identical history.
      state.filter = filter?.isEmpty == false ? filter : nil
      if state.filter == nil { state.filtered = nil } else { beginReview(&state) }
      // The messages counted as unread may no longer be visible, so counting starts again.
      catchUp(&state)
    case .mentionedNamesChanged(let names):
      state.mentionedNames = MentionedNames(names)
      beginReview(&state)
      if state.filter?.mentionsOnly == true { catchUp(&state) }
    case .threadOpened(let id):
      guard let message = state.messages.newest(withID: id) else { return }
      state.thread = ChatThread(message.thread ?? message.number, in: state.messages)
    case .threadClosed:
      state.thread = nil
    case .personOpened(let person):
      openCard(of: person, in: &state)
    case .personClosed:
      state.card = nil
    case .personNoted(let note):
      apply(note, to: &state)
    case .noticePinned(let number):
      state.notices.pin(number, true)
    case .noticeUnpinned(let number):
      state.notices.pin(number, false)
    case .noticeDismissed(let number):
      state.notices.dismiss(number)
    }
  }

  /// Updates the visible messages with the newest `count` messages of the history. Takes O(`count`)
  /// if there is a filter, a thread is open, or the host has scrolled back; otherwise O(1).
  func follow(_ count: Int, in state: inout State) {
    guard state.filter != nil || state.thread != nil || state.readUpTo != nil else { return }
    let newest = state.messages.suffix(count)
    var seen = count
    if let filter = state.filter {
      let passing = newest.filter(filter.passes)
      seen = passing.count
      // A review in progress adds these messages later, after the earlier ones.
      if !state.isReviewing { for message in passing { state.filtered?.append(message) } }
    }
    if state.readUpTo != nil, seen > 0 { state.unread += seen }
    if let root = state.thread?.root {
      for message in newest where message.thread == root { state.thread?.messages.append(message) }
    }
  }

  /// Subtracts removed messages from the unread count, since they can no longer be read.
  func subtractUnread(_ history: MessageHistory, _ target: ModerationTarget, in state: inout State)
  {
    guard let read = state.readUpTo, state.unread > 0 else { return }
    let seen = state.filtered ?? history
    let remaining = seen.removing(target) ?? seen
    let before = seen.count { $0.number > read }
    state.unread = max(0, state.unread - before + remaining.count { $0.number > read })
  }

  private func catchUp(_ state: inout State) {
    state.readUpTo = nil
    state.unread = 0
  }

  func refreshThread(_ state: inout State) {
    guard let root = state.thread?.root else { return }
    state.thread = ChatThread(root, in: state.messages)
  }
}

/// A chat message with all its replies, including replies to replies.
package struct ChatThread: Equatable, Sendable, Codable {
  /// The number of the message that started the thread.
  package let root: Int
  /// The thread's messages that are still in the history, oldest first.
  package internal(set) var messages: MessageHistory

  init(_ root: Int, in history: MessageHistory) {
    self.root = root
    messages = history.filter { $0.number == root || $0.thread == root }
  }
}
