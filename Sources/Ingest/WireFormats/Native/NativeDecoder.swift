import LiveEvents

enum NativeFormat {
  /// Returns whether a line begins like an object or an array. An array is malformed, but no other
  /// format begins with a bracket.
  static func recognises(_ bytes: UnsafePointer<UInt8>, count: Int) -> Bool {
    bytes[0] == UInt8(ascii: "{") || bytes[0] == UInt8(ascii: "[")
  }
}

/// Decodes native events: one JSON object per line, as the documentation of the ingest socket
/// describes.
extension LineDecoder {
  /// Decodes a line that begins with its object, from tokens that were found in one pass over many
  /// lines.
  mutating func decodeNative(
    _ slab: ByteSlab, line: ByteSlab.Slice, _ bytes: UnsafePointer<UInt8>, arrival: Timestamp
  ) -> DecodedLine {
    guard let (tokens, offset) = window.tokens(of: line, in: slab, at: bytes),
      let end = members.read(tokens)
    else {
      return decodeNative(
        slab, bytes, count: line.count, offset: Int(line.offset), arrival: arrival)
    }
    window.pass(to: end)
    let line = NativeMembers(members, of: slab, at: offset, tokens)
    return decodeMembers(line, arrival: arrival)
  }

  /// Decodes a line separately, starting at its object. Determines why a malformed line is
  /// malformed.
  @inline(never)
  mutating func decodeNative(
    _ slab: ByteSlab, _ bytes: UnsafePointer<UInt8>, count: Int, offset: Int, arrival: Timestamp
  ) -> DecodedLine {
    do throws(RejectionReason) {
      let tokens = try indexer.index(bytes, count: count)
      guard members.read(tokens) != nil else { throw .malformedJSON }
      let line = NativeMembers(members, of: slab, at: offset, tokens)
      return decodeMembers(line, arrival: arrival)
    } catch {
      return .rejected(error, room: override)
    }
  }

  mutating func decodeMembers(
    _ line: borrowing NativeMembers, arrival: Timestamp
  ) -> DecodedLine {
    var room = override
    members.lastRead.pointee = .type
    do throws(RejectionReason) {
      let type = line.type(in: members.types)
      if case .connection(let type) = type { return .control(try ControlLine(type, from: line)) }
      let target = try self.room(of: line)
      room = target
      guard let type, let payload = try line.payload(of: type) else {
        throw line.typeFault
      }
      return .event(
        LiveEvent(
          timestamp: line.optionalTimestamp(.ts) ?? arrival, payload: payload,
          origin: origin(of: line, payload)),
        room: target)
    } catch {
      if error == .unknownType, let name = line.name(of: .type) {
        line.remarks.pointee.append(.kind(name))
      }
      return .rejected(error, room: room)
    }
  }

  /// Returns the origin of a line's event. The connection's origin supplies what the line does not
  /// name.
  @inline(__always)
  private mutating func origin(
    of line: borrowing NativeMembers, _ payload: borrowing LiveEvent.Payload
  ) -> Origin {
    if origin == .none, !line.has(.platform), !line.has(.source) { return .none }
    guard payload.hasOrigin else { return .none }
    guard line.has(.platform) || line.has(.source) else { return origin }
    return namedOrigin.origin(
      platform: line.optionalShortText(.platform) ?? origin.platform,
      source: line.optionalShortText(.source) ?? origin.source)
  }

  /// Returns the room that a line names, or `main` if the line names none.
  @inline(__always)
  private mutating func room(of line: borrowing NativeMembers) throws(RejectionReason)
    -> RoomReference
  {
    if let override { return override }
    guard line.has(.room) else { return .main }
    let value = line.values[NativeMember.room.rawValue]
    // No valid room name needs an escape.
    guard value.kind == .string,
      let index = rooms.native(
        UnsafeBufferPointer(start: line.bytes(of: value), count: Int(value.count)))
    else { throw .invalidRoom }
    return RoomReference(index: index)
  }
}

extension NativeMembers {
  /// Returns the type of the line, or `nil` if the type is unknown, absent, or not a string.
  /// ``typeFault`` distinguishes these cases after the room is known.
  @inline(__always)
  fileprivate func type(in table: NativeTypeTable) -> NativeLineType? {
    guard has(.type) else { return nil }
    let value = values[NativeMember.type.rawValue]
    guard value.kind == .string || value.kind == .escapedString,
      let index = NativeMemberStorage.find(value, in: table.names, of: tokens)
    else { return nil }
    return table.types[index]
  }

  /// Reads the event of a line, or returns `nil` if the type is a command to the connection.
  @inline(__always)
  fileprivate func payload(
    of type: NativeLineType
  ) throws(RejectionReason) -> LiveEvent.Payload? {
    // The most frequent type comes first, so that reading it needs no further call.
    if case .chat(.message) = type { return .chat(.message(try chatMessage())) }
    return try rarerPayload(of: type)
  }

  /// The reason why the line has no valid type.
  fileprivate var typeFault: RejectionReason {
    guard has(.type) else { return .missingMember }
    switch values[NativeMember.type.rawValue].kind {
    case .string, .escapedString: return .unknownType
    case .integer, .decimal, .yes, .no, .null, .object, .array: return .invalidValue
    }
  }
}

/// A table of line types by name.
struct NativeTypeTable: Sendable {
  /// The types that clients may send.
  static let shared = NativeTypeTable(NativeLineType.named.filter { !$0.type.isOwn })
  /// All types, including those that only this program writes.
  static let own = NativeTypeTable(NativeLineType.named)

  let names: WordTable
  // The types, indexed by the value that `names` has for their name. Reading from any thread is
  // safe: only `init` writes to this memory, which is never freed.
  nonisolated(unsafe) let types: UnsafePointer<NativeLineType>

  private init(_ named: [(name: String, type: NativeLineType)]) {
    names = WordTable(named.map(\.name))
    let types = UnsafeMutablePointer<NativeLineType>.allocate(capacity: named.count)
    for (index, entry) in named.enumerated() { (types + index).initialize(to: entry.type) }
    self.types = UnsafePointer(types)
  }
}
