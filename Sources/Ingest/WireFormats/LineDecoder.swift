import CSimdjson
public import LiveEvents

/// Turns lines into events. The format is recognised for each line, so formats may be mixed freely.
///
/// Belongs to one event loop; it is not `Sendable`. It never copies text: events refer to the slab
/// that contains their line. It allocates memory when it is made, and for rooms it has not seen
/// before.
public struct LineDecoder: ~Copyable {
  /// The longest line that is decoded, in bytes without its line ending.
  public static let maximumLineLength = 64 * 1024

  var indexer: JSONIndexer
  var window = LineWindow()
  var members = NativeMemberStorage()
  var tags = IRCTagStorage()
  var rooms: RoomTable
  /// The room for which every line counts; `nil` if each line names its own.
  public internal(set) var override: RoomReference?

  /// The longest line that this decoder decodes.
  private let longestLine: Int

  /// - Parameters:
  ///   - maximumLineLength: in bytes; lines written by this program may be longer than those it
  ///     accepts.
  ///   - fallback: the room of lines that name none.
  public init(maximumLineLength: Int = Self.maximumLineLength, fallback: RoomName = .main) {
    rooms = RoomTable(fallback: fallback)
    longestLine = maximumLineLength
    indexer = JSONIndexer(capacity: maximumLineLength)
  }

  /// Sets the room of every later line, whatever the line says; `nil` lets each line name its own.
  public mutating func overrideRoom(_ name: RoomName?) {
    override = name.map { RoomReference(index: rooms.index(of: $0)) }
  }

  /// The name of a room found by this decoder.
  public func name(of room: RoomReference) -> RoomName { rooms.names[room.index] }

  /// The number of rooms to which there are references.
  public var roomCount: Int { rooms.names.count }

  /// Forgets the rooms found so far, except for ``override``. References to them become invalid.
  ///
  /// Call this from time to time on a decoder that is fed by strangers, because they choose the
  /// names of rooms.
  public mutating func forgetRooms() {
    let name = override.map { self.name(of: $0) }
    rooms.removeAll()
    overrideRoom(name)
  }

  /// Decodes one line, given without its line ending.
  ///
  /// `arrival` becomes the time stamp of an event whose line has none. Until the last line of a
  /// slab, the decoder may keep the slab alive.
  ///
  /// - Complexity: O(length), amortised over the lines of a slab if they are given in order.
  public mutating func decode(
    _ slab: ByteSlab, line: ByteSlab.Slice, arrival: Timestamp
  ) -> DecodedLine {
    guard line.count <= longestLine else {
      return .rejected(.lineTooLong, room: override)
    }
    defer { window.release(after: line) }
    return slab.withBytes(of: line) { bytes in
      guard let start = bytes.baseAddress else { return .blank }
      switch LineFormat(start, count: bytes.count) {
      case .blank: return .blank
      case .native(0): return decodeNative(slab, line: line, start, arrival: arrival)
      case .native(let skipped):
        return decodeNative(
          slab, start + skipped, count: bytes.count - skipped,
          offset: Int(line.offset) + skipped, arrival: arrival)
      case .irc(let skipped):
        return decodeIRC(
          slab, start + skipped, count: bytes.count - skipped,
          offset: Int(line.offset) + skipped, arrival: arrival)
      case .unknown:
        let isText = livehost_is_utf8(start, bytes.count)
        return .rejected(isText ? .unknownFormat : .invalidUTF8, room: override)
      }
    }
  }

  /// Decodes the unfinished last line of a sender that has gone.
  ///
  /// A JSON object shows whether it is complete. Any beginning of an IRC line may look complete, so
  /// it is rejected.
  public mutating func decodeUnended(
    _ slab: ByteSlab, line: ByteSlab.Slice, arrival: Timestamp
  ) -> DecodedLine {
    let isIRC = slab.withBytes(of: line) { bytes in
      guard let start = bytes.baseAddress else { return false }
      guard case .irc = LineFormat(start, count: bytes.count) else { return false }
      return true
    }
    return isIRC
      ? .rejected(.malformedIRC, room: override) : decode(slab, line: line, arrival: arrival)
  }
}

/// The format of a line, recognised by its beginning.
private enum LineFormat {
  case blank
  /// The object begins this many bytes into the line.
  case native(Int)
  case irc(Int)
  case unknown

  @inline(__always)
  init(_ bytes: UnsafePointer<UInt8>, count: Int) {
    guard count > 0 else {
      self = .blank
      return
    }
    switch bytes[0] {
    case UInt8(ascii: "{"): self = .native(0)
    case UInt8(ascii: "@"), UInt8(ascii: ":"): self = .irc(0)
    default: self = LineFormat.slow(bytes, count: count)
    }
  }

  private static func slow(_ bytes: UnsafePointer<UInt8>, count: Int) -> LineFormat {
    var start = 0
    // Some editors put a byte-order mark before the first line of a file.
    if count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { start = 3 }
    while start < count, bytes[start] == 0x20 || bytes[start] == 0x09 { start += 1 }
    guard start < count else { return .blank }
    switch bytes[start] {
    case UInt8(ascii: "{"), UInt8(ascii: "["): return .native(start)
    case UInt8(ascii: "@"), UInt8(ascii: ":"): return .irc(start)
    default:
      return IRCCommand(verbAt: bytes + start, count: count - start) == nil
        ? .unknown : .irc(start)
    }
  }
}
