public import Synchronization

/// The one door by which effects reach their store.
///
/// Any thread may post; the lane is woken once per batch, and holds the store weakly.
@usableFromInline
final class Mailbox<Action: Sendable>: Sendable {
  @usableFromInline
  enum Message: Sendable {
    case actions([Action], effect: UInt64)
    case failed(any Error, effect: UInt64)
    case finished(effect: UInt64)
  }

  @usableFromInline
  struct Contents: Sendable {
    @usableFromInline var messages: ContiguousArray<Message> = []
    @usableFromInline var isScheduled = false
    @usableFromInline init() {}
  }

  @usableFromInline let lane: any Lane
  @usableFromInline let contents = Mutex(Contents())
  // Set and cleared by the store, read by the drain, all of it on the lane. A weak reference would do
  // the same and make each count of references to the store a slow one.
  nonisolated(unsafe) unowned(unsafe) var receiver: (any MailboxReceiver<Action>)?

  init(lane: any Lane) { self.lane = lane }

  @usableFromInline
  func post(_ message: Message) {
    let mustSchedule = contents.withLock { contents in
      contents.messages.append(message)
      defer { contents.isScheduled = true }
      return !contents.isScheduled
    }
    if mustSchedule { lane.execute { [self] in drain() } }
  }

  private func drain() {
    let batch = contents.withLock { contents in
      contents.isScheduled = false
      var empty = ContiguousArray<Message>()
      swap(&empty, &contents.messages)
      return empty
    }
    receiver?.receive(batch)
  }
}

/// The lane's side of a mailbox: the store.
@usableFromInline
protocol MailboxReceiver<Action>: AnyObject {
  associatedtype Action: Sendable
  func receive(_ batch: ContiguousArray<Mailbox<Action>.Message>)
}
