import BatchDelivery
package import LiveEvents
import WireFormats

/// What is read of the log on its way to the local daemon, each message once.
///
/// The log may hold a batch twice, when its sender or its gateway was not sure. Whoever reads a partition from its
/// beginning sees both, and passes on the first. What the daemon is given has the position of the log, so that it
/// rejects what it has when something is read again. A value.
package struct LogFeed: Sendable {
  private struct Room: Sendable {
    /// The highest position of each sender.
    var senders: [String: Int] = [:]
    /// The code of the last part that the daemon has, by itself or from here.
    var held: Int
  }

  private struct Batch: Sendable {
    let partition: Partition
    let bytes: [UInt8]
    let lines: Int
  }

  /// How many parts a message may have.
  private static let partsPerMessage = 256
  /// Bytes that may be unacknowledged before no more is read.
  package static let window = 4 << 20

  private var rooms: [Partition: [RoomName: Room]] = [:]
  private var batches: [Batch] = []
  private var written = 0
  /// How many of the first batches a token stands for, oldest first.
  private var syncs: [(token: String, batches: Int)] = []
  private var nextToken = 1

  package private(set) var bytes = 0
  /// Messages that were passed on and acknowledged, and those that were in the log twice.
  package private(set) var delivered = 0
  package private(set) var duplicates = 0
  /// Messages that could not be read.
  package private(set) var unreadable = 0

  package init() {}

  package var isFull: Bool { bytes >= Self.window }

  /// Begins a partition.
  /// - Parameter held: the last position of the log that the daemon has, by room.
  package mutating func begin(_ partition: Partition, held: [RoomName: Int]) {
    rooms[partition] = held.mapValues { Room(held: $0) }
  }

  /// Forgets a partition; what was read of it is passed on.
  package mutating func end(_ partition: Partition) { rooms[partition] = nil }

  /// The connection to the daemon is lost: every partition is to be begun anew.
  package mutating func reset() {
    rooms = [:]
    batches = []
    syncs = []
    written = 0
    bytes = 0
  }

  /// A message of the log.
  /// - Parameter log: names the stream, so that positions of another one of the same name are not taken for its own.
  package mutating func received(
    _ body: [UInt8], sequence: UInt64, room: RoomName, partition: Partition, log: String
  ) {
    guard rooms[partition] != nil else { return }
    guard let message = LogMessage(bytes: body) else { return unreadable += 1 }
    let name = message.position.source.description
    var known = rooms[partition]?[room] ?? Room(held: 0)
    guard known.senders[name].map({ $0 < message.position.sequence }) ?? true else {
      return duplicates += 1
    }
    known.senders[name] = message.position.sequence
    for (index, part) in message.parts.enumerated() {
      let code = Int(sequence) * Self.partsPerMessage + min(index, Self.partsPerMessage - 1)
      guard code > known.held else { continue }
      known.held = code
      let position = BatchLine.position(session: log, sequence: code) + [0x0A]
      batches.append(Batch(partition: partition, bytes: position + part, lines: 1))
      bytes += part.count
    }
    rooms[partition]?[room] = known
  }

  /// What to write now, with a `sync` at its end; `nil` if there is nothing.
  package mutating func nextWrite() -> [UInt8]? {
    guard written < batches.count else { return nil }
    let new = batches[written...]
    var output: [UInt8] = []
    for batch in new { output += batch.bytes }
    let token = "f\(nextToken)"
    nextToken += 1
    syncs.append((token, new.count))
    written = batches.count
    return output + BatchLine.sync(token: token) + [0x0A]
  }

  /// The daemon has applied and saved everything up to a `sync`. Returns whether the token was one of this feed.
  @discardableResult
  package mutating func acknowledge(_ token: String) -> Bool {
    guard let index = syncs.firstIndex(where: { $0.token == token }) else { return false }
    let count = syncs[...index].reduce(0) { $0 + $1.batches }
    for batch in batches.prefix(count) { bytes -= Self.payload(of: batch.bytes) }
    delivered += count
    batches.removeFirst(count)
    written -= count
    syncs.removeFirst(index + 1)
    return true
  }

  private static func payload(of batch: [UInt8]) -> Int {
    batch.count - ((batch.firstIndex(of: 0x0A) ?? -1) + 1)
  }
}
