import Ingest

/// The senders of deliveries that a room has not answered yet.
struct WaitingSenders {
  /// The receipts to acknowledge once the events of their deliveries are applied and on disk.
  private var receipts: [DeliveryReceipt] = []
  /// The number of rejected events in the current delivery, which may be applied in parts.
  private var rejected = 0

  var isEmpty: Bool { receipts.isEmpty }

  mutating func beginDelivery() { rejected = 0 }

  mutating func addRejected(_ count: Int) {
    precondition(count >= 0, "the number of rejected events never decreases")
    rejected += count
  }

  /// Ends the current delivery and reports its rejected events. Returns whether its sender waits
  /// for a frame.
  mutating func endDelivery(_ receipt: DeliveryReceipt) -> Bool {
    receipt.markRejected(rejected)
    if receipt.wantsAcknowledgement { receipts.append(receipt) }
    return receipt.wantsAcknowledgement
  }

  /// Removes and returns the receipts of deliveries whose events are all applied.
  mutating func removeAll() -> [DeliveryReceipt] { exchange(&receipts, with: []) }
}
