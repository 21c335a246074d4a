import Platform

/// Tells a sender what became of a delivery. May be used from any thread.
///
/// Releasing a receipt counts as consuming the delivery. If the receipt wanted an acknowledgement
/// and got none, the connection is closed: a sync that cannot be vouched for is never answered.
package final class DeliveryReceipt: Sendable {
  /// Whether the sender waits for ``markApplied(failure:)``.
  ///
  /// The acknowledgement then covers every delivery of this sender for this room up to and including
  /// this one. Whatever throttles hold back of them is to be applied at once.
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
    /// Of a delivery that comes from a caller.
    var rejected = 0
    var keepers: [any Durability] = []
  }

  init(ledger: SharedLedger, epoch: UInt64, bytes: Int, wantsAcknowledgement: Bool) {
    sender = .connection(ledger, epoch: epoch, bytes: bytes)
    self.wantsAcknowledgement = wantsAcknowledgement
  }

  /// A receipt that nothing reads.
  package init() {
    sender = .none
    wantsAcknowledgement = false
  }

  /// A receipt for a caller that waits until everything is applied.
  ///
  /// - Parameter onApplied: called once, with the number of events that were not taken, and with why
  ///   the others are not on disk, if they were to be kept.
  package init(onApplied: @escaping @Sendable (_ rejected: Int, _ failure: String?) -> Void) {
    sender = .caller(onApplied)
    wantsAcknowledgement = true
  }

  /// What the delivery takes in bytes of memory, its lines and its events; 0 if it came by no line.
  package var byteCount: Int {
    if case .connection(_, _, let bytes) = sender { bytes } else { 0 }
  }

  /// Reports that the delivery was taken out of the mailbox: the sender may send as much again.
  package func markConsumed() {
    let isFirst = progress.withLock { progress in
      defer { progress.isConsumed = true }
      return !progress.isConsumed
    }
    if isFirst, case .connection(let ledger, _, let bytes) = sender {
      ledger.markConsumed(bytes: bytes)
    }
  }

  /// Reports that `durability` is responsible for keeping what was delivered.
  ///
  /// Call it before the acknowledgement that covers the delivery. If `durability` failed by then, the
  /// sender is told the truth: applied, and not kept.
  package func markKept(by durability: any Durability) {
    switch sender {
    case .none: break
    case .connection(let ledger, let epoch, _): ledger.markKept(by: durability, epoch: epoch)
    case .caller: progress.withLock { $0.keepers.append(durability) }
    }
  }

  /// Reports that the sink rejected `count` of the delivered events, such as duplicates.
  ///
  /// Call it before the acknowledgement that covers them, whose counts include them.
  package func markRejected(_ count: Int) {
    guard count > 0 else { return }
    switch sender {
    case .none: break
    case .connection(let ledger, let epoch, _): ledger.markRejected(count, epoch: epoch)
    case .caller: progress.withLock { $0.rejected += count }
    }
  }

  /// Everything that ``wantsAcknowledgement`` asks for is applied or counted otherwise.
  /// Implies ``markConsumed()``.
  ///
  /// - Parameter failure: why something that was to be kept is lost.
  package func markApplied(failure: String? = nil) {
    if let failure { markKept(by: Lost(failureReason: failure)) }
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
      onApplied(first.rejected, first.keepers.lazy.compactMap(\.failureReason).first)
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

/// Stands in for events that were to be kept and are lost.
private final class Lost: Durability {
  let failureReason: String?

  init(failureReason: String) { self.failureReason = failureReason }
}

/// Something that keeps what was delivered, and may fail to, such as a recorder. May be used from
/// any thread.
package protocol Durability: AnyObject, Sendable {
  /// Why something that should have been kept is lost, in words for people; `nil` while nothing is.
  var failureReason: String? { get }
}
