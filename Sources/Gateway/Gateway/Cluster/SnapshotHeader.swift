package import JSON
package import LiveEvents
import Platform

/// What the store says of a snapshot of a room: where in the log it is, and of what it consists.
///
/// The store keeps the headers of the two newest snapshots of each room. The parts of a snapshot are written first, under
/// names that no other one has; then its header, only if no other node has written one meanwhile. Parts to which no header
/// leads are of an upload that was cut, or that another one replaced.
///
/// A room that is closed has a header, too, without parts. So a node whose daemon still has the room closes it, and what
/// is in the log twice is known as a repeat.
package struct SnapshotHeader: Equatable, Sendable {
  /// Tells apart the snapshots of a room.
  package var identifier: String
  package var room: String
  /// Names the stream of the log, also if another one has its name later.
  package var log: String
  /// The position that the room has in the log.
  package var code: Int
  /// The first message of the log that is to be read behind it, by a node that has this snapshot.
  package var start: UInt64
  /// Whatever the partition's log has up to this message was in a snapshot in the store when this one was written.
  package var through: UInt64
  /// None if the room is closed.
  package var parts: Int
  package var bytes: Int
  /// CRC-32C of the parts, one after the other.
  package var checksum: UInt32
  /// Who wrote it.
  package var node: String
  package var epoch: UInt64
  /// How far the log had each sender's batches.
  package var senders: [String: SenderPositions.Position]

  static let stream = "LH_SNAP"
  /// Parts of one snapshot.
  static let maximumParts = 128

  /// How long a closed room is remembered: longer than the log has anything, or than a node is away.
  static let memory = 7 * 86_400 * 1_000_000_000

  package var isClosed: Bool { parts == 0 }

  static func subject(of room: RoomName) -> String { "\(prefix(of: room)).h" }
  /// Everything that is stored of a partition.
  static func all(of partition: Partition) -> String { "lh.snap.\(partition).>" }
  /// Everything that is stored of a room.
  static func all(of room: RoomName) -> String { "\(prefix(of: room)).>" }
  package static func parts(of room: RoomName, _ identifier: String) -> String {
    "\(prefix(of: room)).\(identifier)"
  }

  /// A name for a snapshot that no other one has.
  package static func identifier(epoch: UInt64, nanoseconds: Int) -> String {
    "\(epoch)-\(nanoseconds)"
  }

  /// When the snapshot was begun, in nanoseconds since 1970.
  var begun: Int? { identifier.split(separator: "-").last.flatMap { Int($0) } }

  /// Of the subjects in the store those of parts to which no header leads, each as the filter of a purge.
  ///
  /// - Parameters:
  ///   - kept: the identifiers in headers.
  ///   - epoch: what was begun in this epoch or a later one may be on its way.
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

  /// `nil` if it makes no sense, or is of a newer version.
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

  /// Continues a checksum with a part.
  static func extend(_ checksum: UInt32, _ part: [UInt8]) -> UInt32 {
    part.withUnsafeBufferPointer { CRC32C.extend(checksum, $0) }
  }
}
