import Synchronization

/// By which a sink tells a connection what became of a delivery. May be used from any thread.
///
/// A receipt that is dropped counts as consumed. If it wanted acknowledgement and got none, the
/// connection is closed: a sync that nobody can vouch for is never answered.
public final class DeliveryReceipt: Sendable {
  /// Whether the connection waits for ``applied()``.
  ///
  /// Then it means every delivery of this connection for this room up to and including this one:
  /// what throttles hold back of them is to be applied, not to be waited for.
  public let wantsAcknowledgement: Bool

  private let ledger: SharedLedger?
  private let epoch: UInt64
  private let bytes: Int
  private let progress = Mutex(Progress())

  private struct Progress {
    var isConsumed = false
    var isApplied = false
  }

  init(ledger: SharedLedger, epoch: UInt64, bytes: Int, wantsAcknowledgement: Bool) {
    self.ledger = ledger
    self.epoch = epoch
    self.bytes = bytes
    self.wantsAcknowledgement = wantsAcknowledgement
  }

  /// A receipt that nobody reads: for events that come from elsewhere than a connection.
  public init() {
    ledger = nil
    epoch = 0
    bytes = 0
    wantsAcknowledgement = false
  }

  /// The delivery was taken off the mailbox: the connection may read as much again.
  public func consumed() {
    let isFirst = progress.withLock { progress in
      defer { progress.isConsumed = true }
      return !progress.isConsumed
    }
    if isFirst { ledger?.consumed(bytes: bytes) }
  }

  /// What was delivered is to be kept by `durability`.
  ///
  /// To be told before the acknowledgement that covers it. If it failed by then, the sync is answered
  /// by the truth: applied, and not kept.
  public func isKept(by durability: any Durability) { ledger?.isKept(by: durability, epoch: epoch) }

  /// The sink did not take `count` of the events delivered, such as duplicates.
  ///
  /// To be told before the acknowledgement that covers them, whose counts include them.
  public func rejected(_ count: Int) {
    if count > 0 { ledger?.rejected(count, epoch: epoch) }
  }

  /// Everything that ``wantsAcknowledgement`` asks for is applied or counted otherwise.
  /// Implies ``consumed()``.
  public func applied() {
    consumed()
    let isFirst = progress.withLock { progress in
      defer { progress.isApplied = true }
      return !progress.isApplied
    }
    if isFirst, wantsAcknowledgement { ledger?.acknowledged(epoch: epoch) }
  }

  deinit {
    let left = progress.withLock { $0 }
    if !left.isConsumed { ledger?.consumed(bytes: bytes) }
    if wantsAcknowledgement, !left.isApplied { ledger?.abandoned() }
  }
}
