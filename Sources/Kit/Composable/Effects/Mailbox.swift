public import Synchronization

/// The one door by which effects reach their store.
///
/// Any thread may post; the lane is woken once per batch. Inlinable throughout, so that messages are
/// handled by code that knows the type of the actions.
@usableFromInline
final class Mailbox<Action: Sendable>: Sendable {
  @usableFromInline
  enum Message: Sendable {
    case action(Action, effect: RunningEffect)
    case actions([Action], effect: RunningEffect)
    case failed(any Error, effect: RunningEffect)
    /// The deadline of a limiter has come.
    case due(effect: RunningEffect)
    case finished(effect: RunningEffect)
  }

  @usableFromInline
  struct Contents: Sendable {
    @usableFromInline var messages: ContiguousArray<Message> = []
    @usableFromInline var isScheduled = false
    @usableFromInline var isClosed = false
    @inlinable init() {}
  }

  @usableFromInline let lane: any Lane
  @usableFromInline let contents = Mutex(Contents())
  // Set and cleared by the store, called by the drain, all of it on the lane. It holds the store
  // neither strongly nor weakly: the store clears it when it goes.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var receiver:
    ((ContiguousArray<Message>) -> Void)?
  /// The memory of the last batch, for the next one. Used by the drain.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var spare =
    ContiguousArray<Message>()

  @inlinable
  init(lane: any Lane) { self.lane = lane }

  @inlinable
  func post(_ message: Message) {
    let mustSchedule = contents.withLock { contents in
      guard !contents.isClosed else { return false }
      contents.messages.append(message)
      defer { contents.isScheduled = true }
      return !contents.isScheduled
    }
    if mustSchedule { lane.execute { [self] in drain() } }
  }

  /// Drops what is there and what comes: the store goes. Messages hold the mailbox, which would hold them
  /// for ever if the lane runs no more.
  @usableFromInline
  func close() {
    receiver = nil
    // Freed outside the lock: what effects captured may send when it goes.
    var rest = ContiguousArray<Message>()
    contents.withLock { contents in
      contents.isClosed = true
      swap(&rest, &contents.messages)
    }
  }

  @inlinable
  func drain() {
    var batch = ContiguousArray<Message>()
    swap(&batch, &spare)
    contents.withLock { contents in
      contents.isScheduled = false
      swap(&batch, &contents.messages)
    }
    receiver?(batch)
    // Emptied one by one: mostly there are few. What a burst needed is given back.
    guard batch.capacity <= 64 else { return }
    while !batch.isEmpty { batch.removeLast() }
    swap(&batch, &spare)
  }
}
