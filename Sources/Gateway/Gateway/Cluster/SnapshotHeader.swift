package import JSON
package import LiveEvents
import SystemSupport

/// Describes a stored snapshot of a room: its position in the log, and its parts.
///
/// The store keeps the headers of the two newest snapshots of each room. The parts of a snapshot
/// are written first, under unique names. The header is written last, and only if no other node has
/// written a header of the room meanwhile. Parts without a header were left by an upload that was
/// interrupted or replaced.
///
/// The header of a closed room lists no parts. A node that loads it closes the room if its daemon
/// still has it, and uses the header to recognise repetitions in the log.
package struct SnapshotHeader: Equatable, Sendable {
  /// Distinguishes the snapshot from other snapshots of the same room.
  package var identifier: String
  package var room: String
  /// Identifies the stream of the log; a later stream with the same name has another identifier.
  package var log: String
  /// The position of the last part of the log that the snapshot contains.
  package var code: Int
  /// The first message of the log that must be read after loading this snapshot.
  package var start: UInt64
  /// A message of the partition's log: when this header was written, stored snapshots contained
  /// everything up to this message.
  package var through: UInt64
  /// The number of parts; 0 if the room is closed.
  package var parts: Int
  package var bytes: Int
  /// The CRC-32C of all parts, concatenated in order.
  package var checksum: UInt32
  package var node: String
  package var epoch: UInt64
  /// For each sender, its newest batch in the log up to the snapshot's position.
  package var senders: [String: SenderPositions.Position]

  static let stream = "LH_SNAP"
  static let maximumParts = 128

  /// How long the header of a closed room is kept, in nanoseconds: longer than the log keeps
  /// messages, and longer than a node is usually away.
  static let memory = 7 * 86_400 * 1_000_000_000

  package var isClosed: Bool { parts == 0 }

  static func subject(of room: RoomName) -> String { "\(prefix(of: room)).h" }
  /// Returns the subjects of everything stored for a partition.
  static func all(of partition: Partition) -> String { "lh.snap.\(partition).>" }
  /// Returns the subjects of everything stored for a room.
  static func all(of room: RoomName) -> String { "\(prefix(of: room)).>" }
  package static func parts(of room: RoomName, _ identifier: String) -> String {
    "\(prefix(of: room)).\(identifier)"
  }

  package static func identifier(epoch: UInt64, nanoseconds: Int) -> String {
    "\(epoch)-\(nanoseconds)"
  }

  /// The time at which storing the snapshot began, in nanoseconds since 1970.
  var begun: Int? { identifier.split(separator: "-").last.flatMap { Int($0) } }

  /// Returns a purge filter for each stored snapshot that has parts and whose identifier is not in
  /// `kept`, the identifiers in headers. Excludes snapshots of `epoch` or later, because they may
  /// still be incomplete.
  package static func leftovers(
    among subjects: [String], keeping kept: [String], before epoch: UInt64
  ) -> Set<String> {
    var found: Set<String> = []
    for subject in subjects {
      let tokens = subject.split(separator: ".")
      guard tokens.count == 6, !kept.contains(String(tokens[4])),
        let begun = UInt64(tokens[4].prefix { $0 != "-" }), begun < epoch
      else { continue }
      found.insert(tokens[..<5].joined(separator: ".") + ".*")
    }
    return found
  }

  private static func prefix(of room: RoomName) -> String {
    let log = Partition(of: room).logSubject(of: room)
    return "lh.snap" + log.dropFirst("lh.log".count)
  }

  package var json: JSONValue {
    [
      "version": 1, "identifier": .string(identifier), "room": .string(room), "log": .string(log),
      "code": .integer(Int64(code)), "start": .integer(Int64(clamping: start)),
      "through": .integer(Int64(clamping: through)), "parts": .integer(Int64(parts)),
      "bytes": .integer(Int64(bytes)), "checksum": .integer(Int64(checksum)),
      "node": .string(node), "epoch": .integer(Int64(clamping: epoch)),
      "senders": .object(
        Dictionary(
          uniqueKeysWithValues: senders.map { name, position in
            (
              JSONName(name),
              .array([.integer(Int64(position.batch)), .integer(Int64(clamping: position.message))])
            )
          })),
    ]
  }

  /// Reads a header; fails if the header is invalid or a newer version wrote it.
  package init?(_ json: JSONValue) {
    func number(_ name: String) -> Int? {
      json[name]?.integerValue.flatMap { $0 >= 0 ? Int(exactly: $0) : nil }
    }
    guard number("version") == 1, let identifier = json["identifier"]?.stringValue,
      let room = json["room"]?.stringValue, let log = json["log"]?.stringValue,
      let node = json["node"]?.stringValue, let code = number("code"),
      let start = number("start"), let through = number("through"), let parts = number("parts"),
      let bytes = number("bytes"), let checksum = number("checksum"), let epoch = number("epoch"),
      let checksum = UInt32(exactly: checksum), (0...Self.maximumParts).contains(parts),
      case .object(let senders)? = json["senders"]
    else { return nil }
    self.init(
      identifier: identifier, room: room, log: log, code: code, start: UInt64(start),
      through: UInt64(through), parts: parts, bytes: bytes, checksum: checksum, node: node,
      epoch: UInt64(epoch), senders: [:])
    for (name, position) in senders {
      guard case .array(let numbers) = position, numbers.count == 2,
        let batch = numbers[0].integerValue, let message = numbers[1].integerValue
      else { return nil }
      self.senders[name.description] = SenderPositions.Position(
        batch: Int(batch), message: UInt64(clamping: message))
    }
  }

  package init(
    identifier: String, room: String, log: String, code: Int, start: UInt64, through: UInt64,
    parts: Int, bytes: Int, checksum: UInt32, node: String, epoch: UInt64,
    senders: [String: SenderPositions.Position]
  ) {
    (self.identifier, self.room, self.log) = (identifier, room, log)
    (self.code, self.start, self.through) = (code, start, through)
    (self.parts, self.bytes, self.checksum) = (parts, bytes, checksum)
    (self.node, self.epoch, self.senders) = (node, epoch, senders)
  }

  /// Returns the checksum of everything so far and a further part.
  static func extend(_ checksum: UInt32, _ part: [UInt8]) -> UInt32 {
    part.withUnsafeBufferPointer { CRC32C.extend(checksum, $0) }
  }
}
