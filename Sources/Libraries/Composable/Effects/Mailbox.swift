public import Locking

/// The queue through which effects, on any thread, reach their store. The lane is woken once per
/// batch. Everything is inlinable, so that the code is specialised for the type of the actions.
@usableFromInline
final class Mailbox<Action: Sendable>: Sendable {
  @usableFromInline
  enum Message: Sendable {
    case action(Action, effect: RunningEffect)
    case actions([Action], effect: RunningEffect)
    case failed(any Error, effect: RunningEffect)
    /// The deadline of a limiter has passed.
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
  @usableFromInline let contents = Guarded(Contents())
  // The store sets and clears the closure, and `drain` calls it, all on the lane. The closure does
  // not retain the store; the store removes the closure in its deinitializer.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var receiver:
    ((ContiguousArray<Message>) -> Void)?
  /// The buffer of the last batch, reused for the next batch. Used only by `drain`.
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

  /// Drops all current and future messages, because the store is being deallocated. Otherwise,
  /// messages of a lane that no longer runs would keep the mailbox alive forever.
  @usableFromInline
  func close() {
    receiver = nil
    // Releases the messages outside the lock, because releasing a value that an effect captured may
    // send another message.
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
    // There are usually few messages, so they are removed singly. A buffer that grew in a burst is
    // freed instead of reused.
    guard batch.capacity <= 64 else { return }
    while !batch.isEmpty { batch.removeLast() }
    swap(&batch, &spare)
  }
}
