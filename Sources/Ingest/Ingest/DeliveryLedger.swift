/// Tracks a connection's deliveries until they are consumed and acknowledged.
///
/// Decides whether the connection may read further and which syncs are unanswered. Has no clock,
/// channel or lock. Adds its bytes to the memory count that all connections share.
struct DeliveryLedger {
  /// The limits at which a connection stops reading.
  struct Limits {
    /// The memory in bytes of unconsumed deliveries and of the tokens of unanswered syncs.
    var bytes: Int
    /// The limit that replaces `bytes` while the shared memory of all connections is full.
    var share: Int
    /// The number of unconsumed deliveries.
    var deliveries: Int
    /// The number of unanswered syncs.
    var syncs: Int
  }

  /// The answer to a sync.
  struct Answer: Equatable {
    /// The token exactly as spelled in the line, including escapes.
    let token: [UInt8]
    let received: Int
    let rejected: Int
    /// The reason why some of the lines are applied but not saved, if any.
    let failure: String?
  }

  /// The lines between two syncs. The last epoch in the list is still open.
  private struct Epoch {
    var unacknowledged = 0
    var rejectedBySink = 0
    /// The objects that save the lines, rarely more than one.
    var durabilities: [any Durability] = []
    var sync: (token: [UInt8], received: Int, rejected: Int)?
  }

  let limits: Limits
  private let memory: IngestMemory
  private var bytes = 0
  private var deliveries = 0
  private var epochs = [Epoch()]
  /// The number of the first element of `epochs`.
  private var firstEpoch: UInt64 = 0
  /// The number of events that sinks rejected in answered epochs.
  private var rejectedBefore = 0
  private(set) var isAbandoned = false

  init(limits: Limits, memory: IngestMemory) {
    self.limits = limits
    self.memory = memory
  }

  /// The number of the epoch to which new lines belong.
  var openEpoch: UInt64 { firstEpoch + UInt64(epochs.count - 1) }

  /// Whether the connection must stop reading.
  var isFull: Bool { mustStop(with: 0) }

  /// Whether the connection must stop before processing more lines, including `gathered` bytes that
  /// are not handed over yet.
  func mustStop(with gathered: Int) -> Bool {
    bytes + gathered >= maximumBytes(with: gathered) || deliveries >= limits.deliveries
      || owesTooManyAnswers
  }

  private func maximumBytes(with gathered: Int = 0) -> Int {
    memory.isFull(with: gathered) ? limits.share : limits.bytes
  }

  /// Whether a further sync must wait until earlier syncs are answered.
  var owesTooManyAnswers: Bool { epochs.count > limits.syncs || bytes >= maximumBytes() }

  /// Whether a stopped connection may read again. Half of each limit must be free, so that the
  /// connection does not stop and start with every delivery.
  var hasFreeCapacity: Bool {
    bytes <= maximumBytes() / 2 && deliveries <= limits.deliveries / 2
      && epochs.count - 1 <= limits.syncs / 2
  }

  var isIdle: Bool { deliveries == 0 && epochs.count == 1 }

  var hasAnswer: Bool { epochs[0].sync != nil && epochs[0].unacknowledged == 0 }

  var owesAnswers: Bool { epochs.count > 1 }

  mutating func handOver(bytes: Int, wantsAcknowledgement: Bool) {
    add(bytes)
    deliveries += 1
    if wantsAcknowledgement { epochs[epochs.count - 1].unacknowledged += 1 }
  }

  mutating func markConsumed(bytes: Int) {
    subtract(bytes)
    deliveries -= 1
  }

  private mutating func add(_ count: Int) {
    bytes += count
    memory.add(count)
  }

  private mutating func subtract(_ count: Int) {
    bytes -= count
    memory.subtract(count)
  }

  /// Subtracts the ledger's remaining bytes from the shared memory count. Call this when the
  /// connection is gone and the remaining syncs cannot be answered.
  mutating func release() { subtract(bytes) }

  mutating func markRejected(_ count: Int, epoch: UInt64) {
    guard epoch >= firstEpoch else {
      rejectedBefore += count
      return
    }
    epochs[Int(epoch - firstEpoch)].rejectedBySink += count
  }

  mutating func addDurability(_ durability: any Durability, epoch: UInt64) {
    guard epoch >= firstEpoch else { return }
    let index = Int(epoch - firstEpoch)
    if epochs[index].durabilities.contains(where: { $0 === durability }) { return }
    epochs[index].durabilities.append(durability)
  }

  mutating func markAcknowledged(epoch: UInt64) {
    epochs[Int(epoch - firstEpoch)].unacknowledged -= 1
  }

  mutating func markAbandoned() { isAbandoned = true }

  /// Ends the open epoch with a sync. `received` and `rejected` are the connection's counts so far.
  mutating func sync(token: [UInt8], received: Int, rejected: Int) {
    add(token.count)
    epochs[epochs.count - 1].sync = (token, received, rejected)
    epochs.append(Epoch())
  }

  /// Removes and returns the answers that can be sent, in the order of their syncs. Takes
  /// O(unanswered syncs).
  mutating func removeAnswers() -> [Answer] {
    var answers: [Answer] = []
    for epoch in epochs {
      guard let sync = epoch.sync, epoch.unacknowledged == 0 else { break }
      rejectedBefore += epoch.rejectedBySink
      subtract(sync.token.count)
      answers.append(
        Answer(
          token: sync.token, received: sync.received, rejected: sync.rejected + rejectedBefore,
          failure: epoch.durabilities.lazy.compactMap(\.failureReason).first))
    }
    epochs.removeFirst(answers.count)
    firstEpoch += UInt64(answers.count)
    return answers
  }
}
