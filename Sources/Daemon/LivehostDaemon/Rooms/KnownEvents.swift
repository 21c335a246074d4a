import LiveEvents
import RateLimiting
import WireFormats

/// What a room knows of what it was sent before, so that it takes nothing twice: the identifiers of
/// its newest messages and notices, and how many batches it has of each source. Saved with the
/// room.
///
/// A recording that is played neither asks nor changes it.
struct KnownEvents: Sendable, Equatable, Codable {
  /// How many sources a room keeps positions of: those that it took batches of last. Senders choose
  /// their names, and a source may have another one each time that it is started.
  static let maximumSources = 64
  /// The most that it takes, in bytes.
  static let memory =
    RecentIdentifiers.memory
    + maximumSources * (MemoryLayout<Batch>.stride + EventLimits.nameLength + ByteSlab.padding + 64)

  private var identifiers = RecentIdentifiers()
  /// The source whose batch was taken last comes last.
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

  /// Whether the room has a batch already.
  func holds(_ position: BatchPosition) -> Bool {
    batches.contains { $0.source == position.source && $0.sequence >= position.sequence }
  }

  mutating func note(_ position: RecordedBatchPosition) {
    var batch = Batch(source: position.source, sequence: position.sequence)
    if let index = batches.firstIndex(where: { $0.source == batch.source }) {
      batch.sequence = max(batch.sequence, batches.remove(at: index).sequence)
    } else if batches.count >= Self.maximumSources {
      batches.removeFirst()
    }
    batches.append(batch)
  }

  /// The newest batch of a source, or of the newest of its sessions, which are named `SOURCE/...`.
  func position(of source: String) -> Int? {
    let name = Array(source.utf8)
    return batches.last { batch in
      batch.source.withUTF8 { bytes in
        bytes.starts(with: name)
          && (bytes.count == name.count || bytes[name.count] == UInt8(ascii: "/"))
      }
    }?.sequence
  }
}
