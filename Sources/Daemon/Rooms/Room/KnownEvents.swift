package import LiveEvents
import RateLimiting
package import WireFormats

/// The events that a room has received, remembered so that repetitions are not applied: the
/// identifiers of its newest messages and notices, and the newest batch number of each source.
/// Saved with the room. Playing a recording neither reads nor changes these.
package struct KnownEvents: Sendable, Equatable, Codable {
  /// The maximum number of sources whose batch numbers are kept; the least recently active source
  /// is dropped. Senders choose their names, and a source may have a new name after each restart.
  package static let maximumSources = 64
  /// The maximum memory, in bytes.
  package static let memory =
    RecentIdentifiers.memory
    + maximumSources * (MemoryLayout<Batch>.stride + EventLimits.nameLength + ByteSlab.padding + 64)

  private var identifiers = RecentIdentifiers()
  /// The newest batch of each source, sorted by the time of arrival.
  private var batches: [Batch] = []
  /// Whether the events being logged come from a recording that is played.
  var isReplaying = false

  private struct Batch: Sendable, Equatable, Codable {
    let source: Text
    var sequence: Int
  }

  package var positions: [String: Int] {
    // Two names with different bytes may be equal as text.
    Dictionary(batches.map { (String($0.source), $0.sequence) }, uniquingKeysWith: max)
  }

  // MARK: Events

  /// Records an event that was sent; returns `false` if the room has received it before.
  mutating func insert(_ event: LiveEvent, at now: Instant) -> Bool {
    event.identifierHash.map { identifiers.insert($0, at: now) } ?? true
  }

  /// Records an event that the daemon received before its restart.
  mutating func reinsert(_ event: LiveEvent, at now: Instant) {
    if !isReplaying { _ = insert(event, at: now) }
  }

  // MARK: Batches

  /// Returns whether the room has already received a batch.
  package func holds(_ position: BatchPosition) -> Bool {
    batches.contains { $0.source == position.source && $0.sequence >= position.sequence }
  }

  mutating func insert(_ position: RecordedBatchPosition) {
    var batch = Batch(source: position.source, sequence: position.sequence)
    if let index = batches.firstIndex(where: { $0.source == batch.source }) {
      batch.sequence = max(batch.sequence, batches.remove(at: index).sequence)
    } else if batches.count >= Self.maximumSources {
      batches.removeFirst()
    }
    batches.append(batch)
  }

  /// Returns the newest batch number of a source, or of the newest of its sessions, which are named
  /// `SOURCE/...`.
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

extension KnownEvents: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(batches.count <= Self.maximumSources, "batches")
    for batch in batches {
      try require(names: batch.source, in: "batches")
      try require(countable: batch.sequence, in: "batches")
    }
  }
}
