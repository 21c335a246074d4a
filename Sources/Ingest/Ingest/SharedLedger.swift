import NIOCore
import Synchronization

/// A connection's ledger, shared with the receipts that sinks hold.
///
/// The connection is woken only when it waits: a sink that keeps up costs it no wake-up.
final class SharedLedger: Sendable {
  /// Fired through the connection's pipeline when it has something to do.
  struct Changed: Sendable {}

  private struct State {
    var ledger: DeliveryLedger
    var channel: (any Channel)?
    /// Whether the connection waits for room or for the end.
    var isWaiting = false
    var isWakeUpPending = false
  }

  private let state: Mutex<State>

  init(limits: DeliveryLedger.Limits, channel: any Channel) {
    state = Mutex(State(ledger: DeliveryLedger(limits: limits), channel: channel))
  }

  // MARK: The connection's side

  func withLedger<R: Sendable>(_ body: (inout DeliveryLedger) -> R) -> R {
    state.withLock { body(&$0.ledger) }
  }

  /// Asks whether `condition` holds; if not, the connection is woken once it may.
  func holds(_ condition: (DeliveryLedger) -> Bool) -> Bool {
    state.withLock { state in
      let holds = condition(state.ledger)
      state.isWaiting = !holds
      return holds
    }
  }

  /// Notes that the connection looks at the ledger now.
  func wokenUp() { state.withLock { $0.isWakeUpPending = false } }

  /// Lets go of the channel. Receipts may live on.
  func disconnect() { state.withLock { $0.channel = nil } }

  // MARK: The receipts' side

  func consumed(bytes: Int) {
    change { state in
      state.ledger.consumed(bytes: bytes)
      return state.isWaiting && state.ledger.hasRoom
    }
  }

  func rejected(_ count: Int, epoch: UInt64) {
    change { state in
      state.ledger.rejected(count, epoch: epoch)
      return false
    }
  }

  func isKept(by durability: any Durability, epoch: UInt64) {
    change { state in
      state.ledger.isKept(by: durability, epoch: epoch)
      return false
    }
  }

  func acknowledged(epoch: UInt64) {
    change { state in
      state.ledger.acknowledged(epoch: epoch)
      return state.ledger.hasAnswer
    }
  }

  func abandoned() {
    change { state in
      state.ledger.abandoned()
      return true
    }
  }

  private func change(_ body: (inout State) -> Bool) {
    let channel: (any Channel)? = state.withLock { state in
      guard body(&state), !state.isWakeUpPending else { return nil }
      state.isWakeUpPending = true
      return state.channel
    }
    channel?.pipeline.fireUserInboundEventTriggered(Changed())
  }
}
