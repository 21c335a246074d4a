package import LiveEvents

extension ChatFeature {
  /// What the host does to what is seen of the chat.
  package enum Reading: Equatable, Sendable {
    /// The host looks at older messages; what comes is counted as unread.
    case scrolledBack
    case scrolledToEnd
    /// Only what passes is shown; `nil` shows all.
    indirect case filterChanged(ChatFilter?)
    /// Names whose mention is marked.
    case mentionedNamesChanged([String])
    /// The thread that a message began, or answers in; by the identifier of the source.
    case threadOpened(messageID: Text)
    case threadClosed
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
      // An empty one would be a second history that says the same.
      state.filter = filter?.isEmpty == false ? filter : nil
      refilter(&state)
      // The messages that were counted as unread may not be among those that are seen now.
      catchUp(&state)
    case .mentionedNamesChanged(let names):
      state.mentionedNames = MentionedNames(names)
      state.messages.mark(state.mentionedNames)
      refilter(&state)
      refreshThread(&state)
    case .threadOpened(let id):
      guard let message = state.messages.newest(withID: id) else { return }
      state.thread = ChatThread(message.thread ?? message.number, in: state.messages)
    case .threadClosed:
      state.thread = nil
    case .noticePinned(let number):
      state.notices.pin(number, true)
    case .noticeUnpinned(let number):
      state.notices.pin(number, false)
    case .noticeDismissed(let number):
      state.notices.dismiss(number)
    }
  }

  /// Keeps what is seen up to date with the newest `count` messages of the history.
  ///
  /// - Complexity: O(`count`) if there is a filter, a thread is open or the host scrolled back.
  func follow(_ count: Int, in state: inout State) {
    guard state.filter != nil || state.thread != nil || state.readUpTo != nil else { return }
    let newest = state.messages.suffix(count)
    var seen = count
    if let filter = state.filter {
      let passing = newest.filter(filter.passes)
      seen = passing.count
      for message in passing { state.filtered?.append(message) }
    }
    if state.readUpTo != nil, seen > 0 { state.unread += seen }
    if let root = state.thread?.root {
      for message in newest where message.thread == root { state.thread?.messages.append(message) }
    }
  }

  /// Messages that are taken off the screen were not read and never will be.
  func forgetUnread(_ history: ChatHistory, _ target: ModerationTarget, in state: inout State) {
    guard let read = state.readUpTo, state.unread > 0 else { return }
    let seen = state.filtered ?? history
    let kept = seen.removing(target) ?? seen
    let before = seen.count { $0.number > read }
    state.unread -= before - kept.count { $0.number > read }
  }

  private func catchUp(_ state: inout State) {
    state.readUpTo = nil
    state.unread = 0
  }

  private func refilter(_ state: inout State) {
    guard let filter = state.filter else {
      state.filtered = nil
      return
    }
    state.filtered = state.messages.filter(limit: state.messages.limit, filter.passes)
  }

  private func refreshThread(_ state: inout State) {
    guard let root = state.thread?.root else { return }
    state.thread = ChatThread(root, in: state.messages)
  }
}

/// A message and its answers, those to answers among them.
package struct ChatThread: Equatable, Sendable, Codable {
  /// The number of the message that began it.
  package let root: Int
  /// What is left of it in the history, oldest first.
  package internal(set) var messages: ChatHistory

  init(_ root: Int, in history: ChatHistory) {
    self.root = root
    messages = history.filter(limit: history.limit) { $0.number == root || $0.thread == root }
  }
}
