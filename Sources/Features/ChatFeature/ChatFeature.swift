package import Composable
package import LiveEvents
import RateLimiting

/// The chat of a room: its displayed messages and its counts.
///
/// Reads each message only once in order to count it. Only messages that enter the bounded history
/// are copied out of the received bytes.
@Reducer
package struct ChatFeature {
  package enum Action: Equatable, Sendable {
    /// Messages in the order of their arrival.
    case messages([TimedMessage])
    case messageDeleted(Text, at: Timestamp)
    case cleared(at: Timestamp)
    case timedOut(ChatTimeout, at: Timestamp)
    case notice(ChatNotice, at: Timestamp, from: Origin = .none)
    case modesChanged(ChatModes)
    /// The time of the events has advanced, which lets the rate fall while the chat is silent.
    case ticked(at: Timestamp)
    /// The host changed which part of the chat is visible.
    case reading(Reading)
    /// A frame is due, and the review of the history continues.
    case reviewContinued
    /// Starts, restarts, or ends the analysis for bursts of duplicates.
    case analysisWanted(Bool)
    /// The daemon restarted, so the current run of the analysis must restart.
    case analysisResumed
    case analysed(ChatFindings)
    /// The acts on platforms, or the controllers that can carry them out, changed.
    case actsChanged(ChatActs)
  }

  let dependencies: Dependencies

  package init(dependencies: Dependencies = .live()) { self.dependencies = dependencies }

  /// Takes O(1) per message on average, and O(history) per moderation event.
  package func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .messages(let batch):
      return apply(batch, into: &state)
    case .messageDeleted(let id, let time):
      state.bookkeeping.moderation.recordDeletion(of: id, at: time)
      recordDeletion(of: id, at: time, in: &state)
      moderate(&state, hiding: .message(id))
    case .cleared(let time):
      state.bookkeeping.moderation.recordClear(at: time)
      moderate(&state, hiding: .everything)
    case .timedOut(let timeout, let time):
      // A time-out counts as one moderation, regardless of how many identifiers it affects.
      state.moderations += 1
      for author in authors(meantBy: timeout.user, in: state) {
        state.bookkeeping.moderation.recordTimeout(of: author, at: time)
        recordTimeout(of: author, timeout, at: time, in: &state)
        hide(.author(author), in: &state)
      }
    case .notice(let notice, let time, _):
      state.noticeCount += 1
      state.notices.show(notice, number: state.noticeCount, at: time)
    case .modesChanged(let changes):
      state.modes = state.modes.merging(changes)
    case .ticked(let time):
      state.bookkeeping.pace.advance(to: time)
      state.rate = state.bookkeeping.pace.rate
      sampleRate(&state)
      // Checked first, because advancing the notices marks them as changed even if nothing changes.
      if state.notices.isHolding { state.notices.advance(to: time) }
      endSilentBursts(&state)
    case .reading(let reading):
      read(reading, in: &state)
    case .reviewContinued:
      continueReview(&state)
    case .analysisWanted(let isWanted):
      return setAnalysis(isWanted, in: &state)
    case .analysisResumed:
      return resumeRun(state)
    case .analysed(let findings):
      return apply(findings, in: &state)
    case .actsChanged(let acts):
      show(acts, in: &state)
    }
    return .none
  }

  private func sampleRate(_ state: inout State) {
    let time = state.bookkeeping.pace.now
    var sampler = state.bookkeeping.rateSampler ?? HistorySampler()
    state.rateHistory = sampler.add(Double(state.rate), at: time, to: state.rateHistory)
    state.bookkeeping.rateSampler = sampler
  }

  /// Counts all messages of `batch`, and adds those that fit into the history.
  private func apply(_ batch: [TimedMessage], into state: inout State) -> Effect<Action> {
    let late = state.bookkeeping.count(batch)
    let first = state.total + 1
    state.total += batch.count
    state.deleted += late.count
    state.chatters = state.bookkeeping.chatters.count
    if state.bookkeeping.chatters.isFull, state.chattersAtLeast == nil {
      state.chattersAtLeast = true
    }
    state.rate = state.bookkeeping.pace.rate
    state.busiestSecond = state.bookkeeping.pace.busiest
    state.topChatters = state.bookkeeping.chatters.top
    if state.isMixed == nil, state.bookkeeping.platforms(batch) > 1 { state.isMixed = true }
    countForCard(&state)
    guard late.count < batch.count else { return .none }
    state.messages.append(
      batch, numberedFrom: first, without: late, mentions: state.mentionedNames)
    follow(batch.count - late.count, in: &state)
    followCard(batch.count - late.count, in: &state)
    return analyse(batch, numberedFrom: first, without: late, in: &state)
  }

  /// Returns the identifiers of a person named by a moderator. If the moderator gave only a name,
  /// returns the name, which stands for messages without an author's identifier, and the
  /// identifiers of all people who wrote under that name.
  private func authors(meantBy person: Person, in state: State) -> [Text] {
    guard person.id.isEmpty else { return [person.id] }
    var authors = [person.name]
    let people =
      state.messages.map { Person(id: $0.message.userID, name: $0.message.userName) }
      + state.notices.entries.map(\.notice.user)
    // The order must be the same in every process.
    for other in people where other.isNamed(person.name) && !authors.contains(other.id) {
      authors.append(other.id)
    }
    return authors
  }

  private func moderate(_ state: inout State, hiding target: ModerationTarget) {
    state.moderations += 1
    hide(target, in: &state)
  }

  /// Removes the messages of `target` from the screen, regardless of their timestamps. Moderators
  /// act on what they see, and the clocks of sources differ.
  private func hide(_ target: ModerationTarget, in state: inout State) {
    subtractUnread(state.messages, target, in: &state)
    let all = state.messages
    if let remaining = all.removing(target) {
      state.deleted += all.count - remaining.count
      state.messages = remaining
    }
    hideWords(of: target, among: all, in: &state)
    hideOnCard(target, in: &state)
    // Checked first, because removing messages from the notices marks them as changed even if
    // nothing changes.
    if state.notices.containsText(of: target) { state.notices.retract(target) }
    // The filtered messages and the thread may contain messages that have left the history.
    if let remaining = state.filtered?.removing(target) { state.filtered = remaining }
    if let remaining = state.thread?.messages.removing(target) {
      state.thread?.messages = remaining
    }
    if let remaining = state.folded?.removing(target) { state.folded = remaining }
    if var bursts = state.waves {
      state.bookkeeping.analysis?.hide(target, &bursts)
      state.waves = bursts
    }
  }
}
