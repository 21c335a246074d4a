import LiveEvents
import RateLimiting
import WireFormats

/// What a room knows of what it was sent before, so that it takes nothing twice: the identifiers of its newest
/// messages and notices, and how many batches it has of each source. Saved with the room.
///
/// A recording that is played neither asks nor changes it.
struct KnownEvents: Sendable, Equatable, Codable {
  /// How many sources a room keeps positions of. Senders choose their names.
  static let maximumSources = 64
  /// The most that it takes, in bytes.
  static let memory =
    RecentIdentifiers.memory
    + maximumSources * (MemoryLayout<Batch>.stride + EventLimits.nameLength + ByteSlab.padding + 64)

  private var identifiers = RecentIdentifiers()
  private var batches: [Batch] = []
  /// Whether what is logged is what a recording brings that is played.
  var isReplaying = false

  private struct Batch: Sendable, Equatable, Codable {
    let source: Text
    var sequence: Int
  }

  /// The newest batch of each source.
  var positions: [String: Int] {
    // Names that are not the same bytes may be equal as text.
    Dictionary(batches.map { (String($0.source), $0.sequence) }, uniquingKeysWith: max)
  }

  // MARK: Events

  /// Notes an event that was sent. `false` if the room has taken it before.
  mutating func take(_ event: LiveEvent, at now: Instant) -> Bool {
    event.identifierHash.map { identifiers.insert($0, at: now) } ?? true
  }

  /// Notes an event that was taken by an earlier run.
  mutating func repeatTaking(_ event: LiveEvent, at now: Instant) {
    if !isReplaying { _ = take(event, at: now) }
  }

  // MARK: Batches

  /// Why a batch is not to be taken: the room holds it, or cannot keep its position.
  func reasonToReject(_ position: BatchPosition) -> RejectionReason? {
    if let known = batches.first(where: { $0.source == position.source }) {
      return known.sequence >= position.sequence ? .duplicate : nil
    }
    return batches.count < Self.maximumSources ? nil : .tooManySources
  }

  mutating func note(_ position: RecordedBatchPosition) {
    if let index = batches.firstIndex(where: { $0.source == position.source }) {
      batches[index].sequence = max(batches[index].sequence, position.sequence)
    } else if batches.count < Self.maximumSources {
      batches.append(Batch(source: position.source, sequence: position.sequence))
    }
  }
}
