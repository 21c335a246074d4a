/// What a connection has handed over but not heard back about: it determines whether the connection
/// may read on, and which syncs it still has to answer. A value without clock, channel or lock; its bytes
/// count in the memory that all connections share.
struct DeliveryLedger {
  /// The limits at which a connection stops reading.
  struct Limits {
    /// Bytes of memory of deliveries that are not consumed yet, and of the tokens of unanswered syncs.
    var bytes: Int
    /// The same while the memory of all connections is full.
    var share: Int
    /// Deliveries that are not consumed yet.
    var deliveries: Int
    /// Syncs that are not answered yet.
    var syncs: Int
  }

  /// The answer to a sync.
  struct Answer: Equatable {
    /// The token exactly as the line spelled it, including escapes.
    let token: [UInt8]
    let received: Int
    let rejected: Int
    /// Why some of the lines are applied but not kept as they should be; `nil` if all are.
    let failure: String?
  }

  /// The lines between two syncs. The last epoch of the list is still open.
  private struct Epoch {
    var unacknowledged = 0
    var rejectedBySink = 0
    /// What has to keep the lines; hardly ever more than one.
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
  /// Events that sinks rejected in epochs that have been answered.
  private var rejectedBefore = 0
  private(set) var isAbandoned = false

  init(limits: Limits, memory: IngestMemory) {
    self.limits = limits
    self.memory = memory
  }

  /// The number of the epoch that new lines belong to.
  var openEpoch: UInt64 { firstEpoch + UInt64(epochs.count - 1) }

  /// Whether the connection has to stop reading.
  var isFull: Bool { mustStop(with: 0) }

  /// Whether it has to stop before it takes more lines, with these bytes still to be handed over.
  func mustStop(with gathered: Int) -> Bool {
    bytes + gathered >= maximumBytes(with: gathered) || deliveries >= limits.deliveries
      || owesTooManyAnswers
  }

  private func maximumBytes(with gathered: Int = 0) -> Int {
    memory.isFull(with: gathered) ? limits.share : limits.bytes
  }

  /// Whether another sync must wait for answers to earlier ones.
  var owesTooManyAnswers: Bool { epochs.count > limits.syncs || bytes >= maximumBytes() }

  /// Whether a connection that had to stop may read again. Half of each limit must be free, so that
  /// the connection does not stop and start with every delivery.
  var hasFreeCapacity: Bool {
    bytes <= maximumBytes() / 2 && deliveries <= limits.deliveries / 2
      && epochs.count - 1 <= limits.syncs / 2
  }

  /// Whether nothing is outstanding.
  var isIdle: Bool { deliveries == 0 && epochs.count == 1 }

  /// Whether an answer is due.
  var hasAnswer: Bool { epochs[0].sync != nil && epochs[0].unacknowledged == 0 }

  /// Whether a sync is waiting for its answer.
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

  /// Gives back what the tokens of syncs take that will never be answered.
  mutating func release() { subtract(bytes) }

  mutating func markRejected(_ count: Int, epoch: UInt64) {
    guard epoch >= firstEpoch else {
      rejectedBefore += count
      return
    }
    epochs[Int(epoch - firstEpoch)].rejectedBySink += count
  }

  mutating func markKept(by durability: any Durability, epoch: UInt64) {
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

  /// Removes and returns the answers that are due, in the order of their syncs.
  ///
  /// - Complexity: O(unanswered syncs).
  mutating func takeAnswers() -> [Answer] {
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
