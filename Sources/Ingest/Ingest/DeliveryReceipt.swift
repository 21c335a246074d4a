import Platform

/// Lets a sink report to a connection what became of a delivery. May be used from any thread.
///
/// Releasing a receipt counts as consuming the delivery. If the receipt wanted an acknowledgement
/// and got none, the connection is closed: a sync that cannot be vouched for is never answered.
public final class DeliveryReceipt: Sendable {
  /// Whether the connection waits for ``markApplied()``.
  ///
  /// The acknowledgement then covers every delivery of this connection for this room up to and
  /// including this one. Whatever throttles hold back of them is to be applied at once.
  public let wantsAcknowledgement: Bool

  private let ledger: SharedLedger?
  private let epoch: UInt64
  private let bytes: Int
  private let progress = Guarded(Progress())

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

  /// A receipt without effect, for events that do not come from a connection.
  public init() {
    ledger = nil
    epoch = 0
    bytes = 0
    wantsAcknowledgement = false
  }

  /// Reports that the delivery was taken out of the mailbox: the connection may read as much again.
  /// Further calls have no effect.
  public func markConsumed() {
    let isFirst = progress.withLock { progress in
      defer { progress.isConsumed = true }
      return !progress.isConsumed
    }
    if isFirst { ledger?.markConsumed(bytes: bytes) }
  }

  /// Reports that `durability` is responsible for keeping what was delivered.
  ///
  /// Call this before the acknowledgement that covers the delivery. If `durability` has failed by
  /// then, the answer to the sync says so: applied, but not kept.
  public func markKept(by durability: any Durability) {
    ledger?.markKept(by: durability, epoch: epoch)
  }

  /// Reports that the sink rejected `count` of the delivered events, such as duplicates.
  ///
  /// Call this before the acknowledgement that covers the events, because its counts include them.
  public func markRejected(_ count: Int) {
    if count > 0 { ledger?.markRejected(count, epoch: epoch) }
  }

  /// Reports that everything ``wantsAcknowledgement`` covers is applied or has been counted in
  /// another way. Implies ``markConsumed()``; further calls have no effect.
  public func markApplied() {
    markConsumed()
    let isFirst = progress.withLock { progress in
      defer { progress.isApplied = true }
      return !progress.isApplied
    }
    if isFirst, wantsAcknowledgement { ledger?.markAcknowledged(epoch: epoch) }
  }

  deinit {
    let progress = progress.withLock { $0 }
    if !progress.isConsumed { ledger?.markConsumed(bytes: bytes) }
    if wantsAcknowledgement, !progress.isApplied { ledger?.markAbandoned() }
  }
}

/// Something that keeps what was delivered, and may fail to, such as a recorder. May be used from
/// any thread.
public protocol Durability: AnyObject, Sendable {
  /// Why something that should have been kept is lost, in words for people; `nil` while nothing is.
  var failureReason: String? { get }
}
