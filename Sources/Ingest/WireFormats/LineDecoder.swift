import CSimdjson
public import LiveEvents

/// Decodes lines into events. Recognises the format of each line, so formats may be mixed.
///
/// A decoder belongs to one event loop and is not `Sendable`. Decoding never copies text: events
/// refer to the slab that contains their line. A decoder allocates memory only at creation and for
/// new rooms.
public struct LineDecoder: ~Copyable {
  /// The maximum length of a line in bytes, without its line ending.
  public static let maximumLineLength = EventLimits.textLength

  /// The size of a decoder's token storage in bytes: four bytes for each byte of input that it can
  /// index.
  package static let memory = 4 * (maximumLineLength + LineWindow.capacity)

  var indexer: JSONIndexer
  var window = LineWindow()
  let remarks = RemarkStorage()
  var members: NativeMemberStorage
  var tags: IRCTagStorage
  var rooms: RoomTable
  /// The room of every line. `nil` if each line names its own room.
  public internal(set) var override: RoomReference?
  /// The required format of event lines. `nil` recognises the format of each line.
  public var format: WireFormat?
  /// The default origin of events. A line that names a platform or a source overrides it.
  public var origin = Origin.none
  var namedOrigin = NamedOrigin()

  /// The maximum line length of this decoder, in bytes.
  private let longestLine: Int

  /// Creates a decoder of lines from clients.
  ///
  /// - Parameters:
  ///   - maximumLineLength: The limit in bytes. The default limit is for clients; lines that this
  ///     program wrote may exceed it.
  ///   - fallback: The room of lines that name no room.
  public init(maximumLineLength: Int = Self.maximumLineLength, fallback: RoomName = .main) {
    self.init(maximumLineLength: maximumLineLength, fallback: fallback, types: .shared)
  }

  /// Creates a decoder of lines that this program wrote, which include events that clients must not
  /// send, such as results of effects.
  package init(ofOwnLinesUpTo length: Int) {
    self.init(maximumLineLength: length, fallback: .main, types: .own)
  }

  private init(maximumLineLength: Int, fallback: RoomName, types: NativeTypeTable) {
    rooms = RoomTable(fallback: fallback)
    members = NativeMemberStorage(types, remarks: remarks.remarks)
    tags = IRCTagStorage(remarks: remarks.remarks)
    longestLine = maximumLineLength
    indexer = JSONIndexer(capacity: maximumLineLength)
  }

  /// Sets the room of every later line, overriding the room that a line names. `nil` lets each line
  /// name its own room.
  public mutating func overrideRoom(_ name: RoomName?) {
    override = name.map { RoomReference(index: rooms.index(of: $0)) }
  }

  public func name(of room: RoomReference) -> RoomName { rooms.names[room.index] }

  /// The number of rooms with a valid reference.
  public var roomCount: Int { rooms.names.count }

  /// Removes all known rooms except ``override``. References to the removed rooms become invalid.
  /// Call this regularly on a decoder of untrusted input, because clients choose the names of
  /// rooms.
  public mutating func forgetRooms() {
    let name = override.map { self.name(of: $0) }
    rooms.removeAll()
    overrideRoom(name)
  }

  /// Decodes one line, which is given without its line ending.
  ///
  /// An event whose line has no timestamp gets `arrival`. The decoder may keep the slab alive until
  /// it has decoded the slab's last line. Takes O(length), amortised over the lines of a slab if
  /// they are given in order.
  public mutating func decode(
    _ slab: ByteSlab, line: ByteSlab.Slice, arrival: Timestamp
  ) -> DecodedLine {
    guard line.count <= longestLine else {
      return .rejected(.lineTooLong, room: override)
    }
    // Remarks that the caller did not remove must not accumulate.
    if hasRemarks { remarks.remarks.pointee.removeAll(keepingCapacity: true) }
    defer { window.release(after: line) }
    return slab.withBytes(of: line) { bytes in
      guard let start = bytes.baseAddress,
        let (format, skipped) = WireFormat.recognise(start, count: bytes.count)
      else { return .blank }
      if let only = self.format, only != format {
        return decodeControl(slab, line: line, start, skipped, format, arrival: arrival)
      }
      switch format {
      case .native where skipped == 0:
        return decodeNative(slab, line: line, start, arrival: arrival)
      case .native:
        return decodeNative(
          slab, start + skipped, count: bytes.count - skipped,
          offset: Int(line.offset) + skipped, arrival: arrival)
      case .twitchIRC:
        return decodeIRC(
          slab, start + skipped, count: bytes.count - skipped,
          offset: Int(line.offset) + skipped, arrival: arrival)
      case nil:
        let isText = livehost_is_utf8(start, bytes.count)
        return .rejected(isText ? .unknownFormat : .invalidUTF8, room: override)
      }
    }
  }

  /// Decodes a line whose format differs from the required ``format``. Accepts only commands to the
  /// connection, which are always native.
  @inline(never)
  private mutating func decodeControl(
    _ slab: ByteSlab, line: ByteSlab.Slice, _ bytes: UnsafePointer<UInt8>, _ skipped: Int,
    _ format: WireFormat?, arrival: Timestamp
  ) -> DecodedLine {
    if format == .native {
      let decoded = decodeNative(
        slab, bytes + skipped, count: line.count - skipped, offset: Int(line.offset) + skipped,
        arrival: arrival)
      if case .control = decoded { return decoded }
    }
    return .rejected(.unknownFormat, room: override)
  }

  /// Decodes the incomplete last line of a client that disconnected. Rejects IRC lines: unlike with
  /// a JSON object, any prefix of an IRC line may look complete.
  public mutating func decodeUnended(
    _ slab: ByteSlab, line: ByteSlab.Slice, arrival: Timestamp
  ) -> DecodedLine {
    let isIRC = slab.withBytes(of: line) { bytes in
      guard let start = bytes.baseAddress else { return false }
      return WireFormat.recognise(start, count: bytes.count)?.format == .twitchIRC
    }
    return isIRC
      ? .rejected(.malformedIRC, room: override) : decode(slab, line: line, arrival: arrival)
  }
}
