import LiveEvents

// The card of a person. While no card is open, messages have no additional cost.

extension ChatFeature {
  /// Opens the card of a person in place of any other card. Takes O(history).
  func openCard(of reference: PersonReference, in state: inout State) {
    let person = state.resolved(reference)
    let stored = state.messages.messages(from: person)
    let counted = state.bookkeeping.chatters.messages(of: person.id)
    let isCounted = counted > 0 || !state.bookkeeping.chatters.isFull
    let messages = max(counted, stored.count)
    let log = state.bookkeeping.moderationLog ?? ModerationLog()
    let moderations = log.newest(of: person.id)
    let name =
      stored.last?.message.userName
      ?? moderations.last { !$0.person.name.isEmpty }?.person.name
      ?? state.topChatters.first { $0.userID == person.id }?.name
    state.card = PersonCard(
      person: person, name: String(name ?? person.id),
      badges: stored.last?.message.badges.owned() ?? "", messages: messages,
      messagesAtLeast: isCounted ? nil : true, firstAt: stored.first?.timestamp,
      firstAtMost: stored.count == messages && isCounted ? nil : true,
      newest: stored.suffix(PersonCard.messageLimit), moderations: moderations,
      note: state.notes?[person])
  }

  func apply(_ note: PersonNote, to state: inout State) {
    let person = state.resolved(note.person)
    var notes = state.notes ?? PersonNotes()
    notes.set(String(note.text), for: person)
    state.notes = notes.entries.isEmpty ? nil : notes
    if let card = state.card, card.person.matches(person) {
      state.card?.note = notes[card.person]
    }
  }

  /// Updates the number of messages on the open card.
  func countForCard(_ state: inout State) {
    guard let card = state.card else { return }
    let counted = state.bookkeeping.chatters.messages(of: card.person.id)
    if counted > card.messages { state.card?.messages = counted }
  }

  /// Adds to the open card those of the newest `count` messages that its person wrote. Takes
  /// O(`count`) while a card is open; otherwise O(1).
  func followCard(_ count: Int, in state: inout State) {
    guard var card = state.card else { return }
    let own = state.messages.suffix(count).filter { $0.isFrom(card.person) }
    guard let last = own.last else { return }
    card.newest = Array((card.newest + own).suffix(PersonCard.messageLimit))
    // The chat does not count the messages of this person, so the card counts them.
    if card.messagesAtLeast == true { card.messages += own.count }
    card.firstAt = card.firstAt ?? own.first?.timestamp
    card.name = String(last.message.userName)
    card.badges = last.message.badges.owned()
    state.card = card
  }

  /// Removes moderated messages from the open card, after their removal from the history. Older
  /// stored messages take their places.
  func hideOnCard(_ target: ModerationTarget, in state: inout State) {
    guard let card = state.card, card.newest.contains(where: target.concerns) else { return }
    let stored = state.messages.messages(from: card.person)
    // A short history may already lack messages that the card still shows.
    let first = stored.first?.number ?? .max
    let older = card.newest.filter { $0.number < first && !target.concerns($0) }
    state.card?.newest = Array((older + stored).suffix(PersonCard.messageLimit))
  }

  // MARK: Moderation

  /// Records a moderation in the log, and on the card of the person.
  func record(_ moderation: PersonModeration, in state: inout State) {
    var log = state.bookkeeping.moderationLog ?? ModerationLog()
    log.record(moderation)
    state.bookkeeping.moderationLog = log
    guard let card = state.card, card.person.id == moderation.person.id else { return }
    state.card?.moderations = log.newest(of: card.person.id)
  }

  /// Records the deletion of a message that the history still stores.
  func recordDeletion(of id: Text, at time: Timestamp, in state: inout State) {
    guard let message = state.messages.newest(withID: id)?.message else { return }
    record(
      PersonModeration(
        kind: .delete, person: Person(id: message.userID.owned(), name: message.userName.owned()),
        message: id.owned(), timestamp: time, isReported: true), in: &state)
  }

  /// Records a time-out or ban of a person.
  func recordTimeout(
    of author: Text, _ timeout: ChatTimeout, at time: Timestamp, in state: inout State
  ) {
    record(
      PersonModeration(
        kind: timeout.seconds == nil ? .ban : .timeOut,
        person: Person(id: author.owned(), name: timeout.user.name.owned()),
        seconds: timeout.seconds, timestamp: time, isReported: true), in: &state)
  }

  /// Records the acts on people that have ended, except for those that had already ended in
  /// `earlier`.
  func recordEnded(_ acts: ChatActs, after earlier: ChatActs?, in state: inout State) {
    let known = (earlier?.performed ?? []).filter { $0.outcome != nil }.map(\.number)
    for performed in acts.performed where !known.contains(performed.number) {
      guard let outcome = performed.outcome, let person = performed.moderatedPerson else {
        continue
      }
      let (act, now) = (performed.act.act, state.bookkeeping.pace.now)
      record(
        PersonModeration(
          kind: act.kind, person: person, message: act.message, seconds: act.seconds,
          timestamp: now == .min ? nil : now, by: performed.act.by, outcome: outcome), in: &state)
    }
  }
}

extension ChatFeature.State {
  /// Returns the reference with a platform. If it has none, this is the platform of the newest
  /// stored message from the person.
  fileprivate func resolved(_ reference: PersonReference) -> PersonReference {
    guard reference.platform == nil,
      let platform = messages.messages(from: reference).last?.origin.platform, !platform.isEmpty
    else { return reference }
    return PersonReference(id: reference.id, platform: platform)
  }
}

extension PerformedAct {
  /// The person whom the act moderates; `nil` if it moderates nobody or if the person is unknown.
  fileprivate var moderatedPerson: Person? {
    switch act.act.kind {
    case .timeOut, .ban, .unban: act.act.person
    case .delete: authorID.map { Person(id: $0, name: Text(author ?? "")) }
    case .say, .reply, .announce, .mark, .setTitle, .setCategory, .shoutOut, .setChatModes,
      .setShield, .reviewHeld:
      nil
    }
  }
}

extension MessageHistory {
  /// Returns the stored messages from a person, oldest first. Takes O(history).
  func messages(from person: PersonReference) -> [DisplayedMessage] {
    let hash = person.id.hashValue
    var own: [DisplayedMessage] = []
    for message in self where message.userHash == hash && message.isFrom(person) {
      own.append(message)
    }
    return own
  }
}

extension DisplayedMessage {
  /// Returns whether the person wrote the message. A message without a known platform may be from
  /// any platform.
  fileprivate func isFrom(_ person: PersonReference) -> Bool {
    guard message.userID == person.id else { return false }
    guard let platform = person.platform, origin != .none else { return true }
    let own = origin.platform
    return own.isEmpty || own == platform
  }
}

extension ModerationTarget {
  fileprivate func concerns(_ displayed: DisplayedMessage) -> Bool {
    switch self {
    case .everything: true
    case .message(let id): displayed.message.id == id
    case .author(let id): displayed.message.userID == id
    case .ordinals(let numbers): numbers.contains(displayed.number)
    }
  }
}
