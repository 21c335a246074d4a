/// What a connection has handed over and not heard back about: the credit that it may still read
/// on, and the syncs that it owes answers to. A value without clock, channel or lock of its own.
struct DeliveryLedger {
  /// When a connection stops reading.
  struct Limits {
    /// Bytes of lines in deliveries that were not consumed.
    var bytes: Int
    /// Deliveries that were not consumed.
    var deliveries: Int
    /// Syncs that were not answered.
    var syncs: Int
  }

  /// What a sync is answered with.
  struct Answer: Equatable {
    /// The token as it stood in the line, escapes and all.
    let token: [UInt8]
    let received: Int
    let rejected: Int
    /// Why some of it is applied, but not kept as it should be.
    let failure: String?
  }

  /// The lines between two syncs. The last one of the list is still open.
  private struct Epoch {
    var unacknowledged = 0
    var rejectedBySink = 0
    /// Who is to keep the lines; hardly ever more than one.
    var durabilities: [any Durability] = []
    var sync: (token: [UInt8], received: Int, rejected: Int)?
  }

  let limits: Limits
  private var bytes = 0
  private var deliveries = 0
  private var epochs = [Epoch()]
  /// Number of the first of `epochs`.
  private var firstEpoch: UInt64 = 0
  /// Events that sinks rejected in epochs that are over.
  private var rejectedBefore = 0
  private(set) var isAbandoned = false

  init(limits: Limits) { self.limits = limits }

  /// The number of the epoch that new lines belong to.
  var openEpoch: UInt64 { firstEpoch + UInt64(epochs.count - 1) }

  /// Whether the connection has to stop reading.
  var isFull: Bool {
    bytes >= limits.bytes || deliveries >= limits.deliveries || epochs.count > limits.syncs
  }

  /// Whether a connection that had to stop may read again: with half of each limit free, so that it
  /// does not stop and go with every delivery.
  var hasRoom: Bool {
    bytes <= limits.bytes / 2 && deliveries <= limits.deliveries / 2
      && epochs.count - 1 <= limits.syncs / 2
  }

  /// Whether nothing is under way.
  var isIdle: Bool { deliveries == 0 && epochs.count == 1 }

  /// Whether an answer is due.
  var hasAnswer: Bool { epochs[0].sync != nil && epochs[0].unacknowledged == 0 }

  /// Whether a sync waits for its answer.
  var owesAnswers: Bool { epochs.count > 1 }

  mutating func handOver(bytes: Int, wantsAcknowledgement: Bool) {
    self.bytes += bytes
    deliveries += 1
    if wantsAcknowledgement { epochs[epochs.count - 1].unacknowledged += 1 }
  }

  mutating func consumed(bytes: Int) {
    self.bytes -= bytes
    deliveries -= 1
  }

  mutating func rejected(_ count: Int, epoch: UInt64) {
    guard epoch >= firstEpoch else {
      rejectedBefore += count
      return
    }
    epochs[Int(epoch - firstEpoch)].rejectedBySink += count
  }

  mutating func isKept(by durability: any Durability, epoch: UInt64) {
    guard epoch >= firstEpoch else { return }
    let place = Int(epoch - firstEpoch)
    if epochs[place].durabilities.contains(where: { $0 === durability }) { return }
    epochs[place].durabilities.append(durability)
  }

  mutating func acknowledged(epoch: UInt64) { epochs[Int(epoch - firstEpoch)].unacknowledged -= 1 }

  mutating func abandoned() { isAbandoned = true }

  /// Ends the open epoch by a sync. `received` and `rejected` are the connection's counts so far.
  mutating func sync(token: [UInt8], received: Int, rejected: Int) {
    epochs[epochs.count - 1].sync = (token, received, rejected)
    epochs.append(Epoch())
  }

  /// Takes the answers that are due, in the order of their syncs.
  mutating func takeAnswers() -> [Answer] {
    var answers: [Answer] = []
    while let epoch = epochs.first, let sync = epoch.sync, epoch.unacknowledged == 0 {
      rejectedBefore += epoch.rejectedBySink
      answers.append(
        Answer(
          token: sync.token, received: sync.received, rejected: sync.rejected + rejectedBefore,
          failure: epoch.durabilities.lazy.compactMap(\.failureReason).first))
      epochs.removeFirst()
      firstEpoch += 1
    }
    return answers
  }
}
