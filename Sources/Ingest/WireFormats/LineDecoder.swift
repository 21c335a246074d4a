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

  /// What a decoder takes for its tokens, in bytes: four for each byte of what it looks at.
  package static let memory = 4 * (maximumLineLength + LineWindow.capacity)

  var indexer: JSONIndexer
  var window = LineWindow()
  let remarks = RemarkStorage()
  var members: NativeMemberStorage
  var tags: IRCTagStorage
  var rooms: RoomTable
  /// The room for which every line counts; `nil` if each line names its own.
  public internal(set) var override: RoomReference?
  /// The format of every line that carries an event; `nil` recognises it line by line.
  public var format: WireFormat?
  /// The origin of events whose lines do not name another one.
  public var origin = Origin.none
  var namedOrigin = NamedOrigin()

  /// The longest line that this decoder decodes.
  private let longestLine: Int

  /// - Parameters:
  ///   - maximumLineLength: in bytes; lines written by this program may be longer than those it
  ///     accepts.
  ///   - fallback: the room of lines that name none.
  public init(maximumLineLength: Int = Self.maximumLineLength, fallback: RoomName = .main) {
    self.init(maximumLineLength: maximumLineLength, fallback: fallback, types: .shared)
  }

  /// A decoder of lines that this program wrote: it also takes the events that nobody else may send, such as
  /// what effects bring back.
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
    // Whoever does not take them must not gather them without bound.
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

  /// Decodes a line of another format than the one that was named: only lines to the connection, which
  /// are native whatever the format, are read.
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

  /// Decodes the rest of a sender that went away in the middle of a line.
  ///
  /// A JSON object shows whether it is complete. Any beginning of an IRC line may look complete, so
  /// it is rejected.
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
