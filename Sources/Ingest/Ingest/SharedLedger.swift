import Platform

/// A connection's ledger, shared with the receipts that sinks hold.
///
/// The connection is woken only if it is waiting, so a sink that keeps up causes no wake-ups.
final class SharedLedger: Sendable {
  private struct State {
    var ledger: DeliveryLedger
    var wake: (@Sendable () -> Void)?
    /// Whether the connection is waiting for free capacity or for the end.
    var isWaiting = false
    var isWakeUpPending = false
  }

  private let state: Guarded<State>
  /// The connection counts as long as something of it is not consumed.
  let slot: ConnectionSlot?

  /// - Parameter wake: called, on any thread, when the connection has something to do.
  init(
    limits: DeliveryLedger.Limits, memory: IngestMemory, slot: ConnectionSlot?,
    wake: @escaping @Sendable () -> Void
  ) {
    state = Guarded(State(ledger: DeliveryLedger(limits: limits, memory: memory), wake: wake))
    self.slot = slot
  }

  deinit { state.withLock { $0.ledger.release() } }

  // MARK: The connection's side

  func withLedger<R: Sendable>(_ body: (inout DeliveryLedger) -> R) -> R {
    state.withLock { body(&$0.ledger) }
  }

  /// Checks whether `condition` holds. If not, the connection is woken once it may hold.
  func satisfies(_ condition: (DeliveryLedger) -> Bool) -> Bool {
    state.withLock { state in
      let holds = condition(state.ledger)
      state.isWaiting = !holds
      return holds
    }
  }

  /// Notes that a wake-up has arrived: the connection is about to look at the ledger.
  func noteWakeUp() { state.withLock { $0.isWakeUpPending = false } }

  /// Calls `wake` from now on, or nothing: receipts may outlive the connection.
  func setWake(_ wake: (@Sendable () -> Void)?) { state.withLock { $0.wake = wake } }

  // MARK: The receipts' side

  func markConsumed(bytes: Int) {
    change { state in
      state.ledger.markConsumed(bytes: bytes)
      return state.isWaiting && state.ledger.hasFreeCapacity
    }
  }

  func markRejected(_ count: Int, epoch: UInt64) {
    change { state in
      state.ledger.markRejected(count, epoch: epoch)
      return false
    }
  }

  func markKept(by durability: any Durability, epoch: UInt64) {
    change { state in
      state.ledger.markKept(by: durability, epoch: epoch)
      return false
    }
  }

  func markAcknowledged(epoch: UInt64) {
    change { state in
      state.ledger.markAcknowledged(epoch: epoch)
      return state.ledger.hasAnswer
    }
  }

  func markAbandoned() {
    change { state in
      state.ledger.markAbandoned()
      return true
    }
  }

  /// Changes the state, and wakes the connection if `body` returns true.
  private func change(_ body: (inout State) -> Bool) {
    let wake: (@Sendable () -> Void)? = state.withLock { state in
      guard body(&state), !state.isWakeUpPending else { return nil }
      state.isWakeUpPending = true
      return state.wake
    }
    wake?()
  }
}
