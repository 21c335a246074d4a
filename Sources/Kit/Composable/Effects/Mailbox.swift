public import Synchronization

/// The one door by which effects reach their store.
///
/// Any thread may post; the lane is woken once per batch. Inlinable throughout, so that messages are
/// handled by code that knows the type of the actions.
@usableFromInline
final class Mailbox<Action: Sendable>: Sendable {
  @usableFromInline
  enum Message: Sendable {
    case action(Action, effect: UInt64)
    case actions([Action], effect: UInt64)
    case failed(any Error, effect: UInt64)
    /// The deadline of a limiter has come.
    case due(effect: UInt64)
    case finished(effect: UInt64)
  }

  @usableFromInline
  struct Contents: Sendable {
    @usableFromInline var messages: ContiguousArray<Message> = []
    @usableFromInline var isScheduled = false
    @inlinable init() {}
  }

  @usableFromInline let lane: any Lane
  @usableFromInline let contents = MailboxLock(Contents())
  // Set and cleared by the store, called by the drain, all of it on the lane. It holds the store
  // neither strongly nor weakly: the store clears it when it goes.
  @usableFromInline nonisolated(unsafe) var receiver: ((ContiguousArray<Message>) -> Void)?

  @inlinable
  init(lane: any Lane) { self.lane = lane }

  @inlinable
  func post(_ message: Message) {
    let mustSchedule = contents.withLock { contents in
      contents.messages.append(message)
      defer { contents.isScheduled = true }
      return !contents.isScheduled
    }
    if mustSchedule { lane.execute { [self] in drain() } }
  }

  @inlinable
  func drain() {
    let batch = contents.withLock { contents in
      contents.isScheduled = false
      var empty = ContiguousArray<Message>()
      swap(&empty, &contents.messages)
      return empty
    }
    receiver?(batch)
  }
}
