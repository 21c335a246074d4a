import Locking
import SystemSupport

/// Reports the progress of a delivery to its sender. Thread-safe.
///
/// Releasing a receipt counts as consuming the delivery. If the receipt requires an acknowledgement
/// that was not given, the connection is closed, because a sync is never answered without all its
/// acknowledgements.
package final class DeliveryReceipt: Sendable {
  /// Whether the sender waits for ``markApplied(failure:)``.
  ///
  /// The acknowledgement then covers all deliveries of this sender for this room, up to and
  /// including this one. The sink must apply the events of these deliveries without waiting for the
  /// interval of throttles.
  package let wantsAcknowledgement: Bool

  private let sender: Sender
  private let progress = Guarded(Progress())

  private enum Sender {
    case none
    case connection(SharedLedger, epoch: UInt64, bytes: Int)
    case caller(@Sendable (_ rejected: Int, _ failure: String?) -> Void)
  }

  private struct Progress {
    var isConsumed = false
    var isApplied = false
    /// The number of rejected events in a delivery from a caller.
    var rejected = 0
    var durabilities: [any Durability] = []
  }

  init(ledger: SharedLedger, epoch: UInt64, bytes: Int, wantsAcknowledgement: Bool) {
    sender = .connection(ledger, epoch: epoch, bytes: bytes)
    self.wantsAcknowledgement = wantsAcknowledgement
  }

  /// Creates a receipt that reports to nobody.
  package init() {
    sender = .none
    wantsAcknowledgement = false
  }

  /// Creates a receipt for a caller that waits until everything is applied. `onApplied` is called
  /// once with the number of rejected events, and with a reason if events that must be saved are
  /// not on disk.
  package init(onApplied: @escaping @Sendable (_ rejected: Int, _ failure: String?) -> Void) {
    sender = .caller(onApplied)
    wantsAcknowledgement = true
  }

  /// The memory of the delivery's lines and events in bytes, or 0 if the delivery did not arrive on
  /// a connection.
  package var byteCount: Int {
    if case .connection(_, _, let bytes) = sender { bytes } else { 0 }
  }

  /// Reports that the delivery was removed from the mailbox, so that the sender may send the same
  /// amount again.
  package func markConsumed() {
    let isFirst = progress.withLock { progress in
      defer { progress.isConsumed = true }
      return !progress.isConsumed
    }
    if isFirst, case .connection(let ledger, _, let bytes) = sender {
      ledger.markConsumed(bytes: bytes)
    }
  }

  /// Reports that `durability` is responsible for saving the delivery. Call this before the
  /// acknowledgement that covers the delivery. If `durability` has failed by then, the sender is
  /// answered "applied" instead of "synced".
  package func addDurability(_ durability: any Durability) {
    switch sender {
    case .none: break
    case .connection(let ledger, let epoch, _): ledger.addDurability(durability, epoch: epoch)
    case .caller: progress.withLock { $0.durabilities.append(durability) }
    }
  }

  /// Reports that the sink rejected `count` of the delivered events, such as duplicates. Call this
  /// before the acknowledgement that covers the events, so that its counts include them.
  package func markRejected(_ count: Int) {
    guard count > 0 else { return }
    switch sender {
    case .none: break
    case .connection(let ledger, let epoch, _): ledger.markRejected(count, epoch: epoch)
    case .caller: progress.withLock { $0.rejected += count }
    }
  }

  /// Reports that all events covered by ``wantsAcknowledgement`` are applied or counted as rejected
  /// or coalesced. Implies ``markConsumed()``. `failure` is the reason if an event that must be
  /// saved is lost.
  package func markApplied(failure: String? = nil) {
    if let failure { addDurability(LostEvents(failureReason: failure)) }
    markConsumed()
    let first = progress.withLock { progress -> Progress? in
      defer { progress.isApplied = true }
      return progress.isApplied ? nil : progress
    }
    guard let first, wantsAcknowledgement else { return }
    switch sender {
    case .none: break
    case .connection(let ledger, let epoch, _): ledger.markAcknowledged(epoch: epoch)
    case .caller(let onApplied):
      onApplied(first.rejected, first.durabilities.lazy.compactMap(\.failureReason).first)
    }
  }

  deinit {
    let left = progress.withLock { $0 }
    switch sender {
    case .none: break
    case .connection(let ledger, _, let bytes):
      if !left.isConsumed { ledger.markConsumed(bytes: bytes) }
      if wantsAcknowledgement, !left.isApplied { ledger.markAbandoned() }
    case .caller(let onApplied):
      if !left.isApplied { onApplied(left.rejected, "the events were dropped") }
    }
  }
}

/// A durability whose failure is the loss of events.
private final class LostEvents: Durability {
  let failureReason: String?

  init(failureReason: String) { self.failureReason = failureReason }
}

/// Saves deliveries and may fail, such as a recorder. Thread-safe.
package protocol Durability: AnyObject, Sendable {
  /// A human-readable reason why events that must be saved are lost. `nil` while nothing is lost.
  var failureReason: String? { get }
}
