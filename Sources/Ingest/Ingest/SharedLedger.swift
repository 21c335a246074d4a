import Locking
import SystemSupport

/// A connection's ledger, shared with the receipts that sinks hold. Wakes the connection only while
/// it waits, so a sink that keeps up causes no wake-ups.
final class SharedLedger: Sendable {
  private struct State {
    var ledger: DeliveryLedger
    var wake: (@Sendable () -> Void)?
    /// Whether the connection waits for free capacity or for its end.
    var isWaiting = false
    var isWakeUpPending = false
  }

  private let state: Guarded<State>
  /// The connection's slot. The connection counts as open until all its deliveries are consumed.
  let slot: ConnectionSlot?

  /// - Parameter wake: Called, on any thread, when the connection must check the ledger.
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

  /// Returns whether `condition` holds. If not, the connection will be woken when `condition` may
  /// have become true.
  func satisfies(_ condition: (DeliveryLedger) -> Bool) -> Bool {
    state.withLock { state in
      let holds = condition(state.ledger)
      state.isWaiting = !holds
      return holds
    }
  }

  /// Records that a wake-up has arrived and the connection is about to check the ledger.
  func recordWakeUp() { state.withLock { $0.isWakeUpPending = false } }

  /// Sets the wake-up function. `nil` removes it, which is necessary because receipts may outlive
  /// the connection.
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

  func addDurability(_ durability: any Durability, epoch: UInt64) {
    change { state in
      state.ledger.addDurability(durability, epoch: epoch)
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
