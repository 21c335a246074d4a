import Ingest
import Synchronization
import Testing

/// Tests receipts for callers, such as calls of the control interface.
@Suite struct CallerSReceiptTests {
  private struct Outcome: Equatable {
    let rejected: Int
    let failure: String?
  }

  private final class Outcomes: Sendable {
    private let outcomes = Mutex<[Outcome]>([])
    var all: [Outcome] { outcomes.withLock { $0 } }

    func receipt() -> DeliveryReceipt {
      DeliveryReceipt { rejected, failure in
        self.outcomes.withLock { $0.append(Outcome(rejected: rejected, failure: failure)) }
      }
    }
  }

  private final class Keeper: Durability {
    let failure = Mutex<String?>(nil)
    var failureReason: String? { failure.withLock { $0 } }
  }

  @Test func `a receipt reports the number of rejected events once, when all are applied`() {
    let outcomes = Outcomes()
    let receipt = outcomes.receipt()
    #expect(receipt.wantsAcknowledgement)
    receipt.markRejected(2)
    receipt.markRejected(1)
    receipt.markConsumed()
    #expect(outcomes.all.isEmpty)
    receipt.markApplied()
    receipt.markApplied()
    #expect(outcomes.all == [Outcome(rejected: 3, failure: nil)])
  }

  @Test func `a receipt reports why its events are not on disk`() {
    let outcomes = Outcomes()
    let keeper = Keeper()
    let receipt = outcomes.receipt()
    receipt.addDurability(keeper)
    keeper.failure.withLock { $0 = "disk full" }
    receipt.markApplied()
    outcomes.receipt().markApplied(failure: "too slow")
    #expect(
      outcomes.all == [
        Outcome(rejected: 0, failure: "disk full"), Outcome(rejected: 0, failure: "too slow"),
      ])
  }

  @Test func `a receipt that is released without being applied reports a failure`() {
    let outcomes = Outcomes()
    do {
      let receipt = outcomes.receipt()
      receipt.markConsumed()
    }
    #expect(outcomes.all.count == 1)
    #expect(outcomes.all.first?.failure != nil)
  }
}
