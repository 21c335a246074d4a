import LiveEvents

enum NativeFormat {
  /// An object; an array is malformed, but can be nothing else.
  static func recognises(_ bytes: UnsafePointer<UInt8>, count: Int) -> Bool {
    bytes[0] == UInt8(ascii: "{") || bytes[0] == UInt8(ascii: "[")
  }
}

/// Native events: one JSON object per line, described in the documentation of the ingest socket.
extension LineDecoder {
  /// Decodes a line that begins with its object, with tokens found for many lines at once.
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

  /// Decodes a line by itself, from its object on. Finds out why a line is malformed.
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

  /// Where the event of a line comes from: what the line does not say, the connection does.
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

  /// The room named by a line, or `main` if it does not name one.
  @inline(__always)
  private mutating func room(of line: borrowing NativeMembers) throws(RejectionReason)
    -> RoomReference
  {
    if let override { return override }
    guard line.has(.room) else { return .main }
    let value = line.values[NativeMember.room.rawValue]
    // No valid name needs an escape.
    guard value.kind == .string,
      let index = rooms.native(
        UnsafeBufferPointer(start: line.bytes(of: value), count: Int(value.count)))
    else { throw .invalidRoom }
    return RoomReference(index: index)
  }
}

extension NativeMembers {
  /// The type of the line; `nil` if there is no type with this name, or the member is absent or not
  /// a string. These cases are distinguished once the room is known.
  @inline(__always)
  fileprivate func type(in table: NativeTypeTable) -> NativeLineType? {
    guard has(.type) else { return nil }
    let value = values[NativeMember.type.rawValue]
    guard value.kind == .string || value.kind == .escapedString,
      let index = NativeMemberStorage.find(value, in: table.names, of: tokens)
    else { return nil }
    return table.types[index]
  }

  /// Reads the event of an event type; `nil` for the type of a control line.
  @inline(__always)
  fileprivate func payload(
    of type: NativeLineType
  ) throws(RejectionReason) -> LiveEvent.Payload? {
    // The most frequent type by far comes first, so that it is read without another call.
    if case .chat(.message) = type { return .chat(.message(try chatMessage())) }
    return try rarerPayload(of: type)
  }

  /// Why the line has no type.
  fileprivate var typeFault: RejectionReason {
    guard has(.type) else { return .missingMember }
    switch values[NativeMember.type.rawValue].kind {
    case .string, .escapedString: return .unknownType
    case .integer, .decimal, .yes, .no, .null, .object, .array: return .invalidValue
    }
  }
}

/// Finds a type by its name.
struct NativeTypeTable: Sendable {
  /// The types of lines that may come from anywhere.
  static let shared = NativeTypeTable(NativeLineType.named.filter { !$0.type.isOwn })
  /// Those of the lines that the program writes.
  static let own = NativeTypeTable(NativeLineType.named)

  let names: WordTable
  // Written by `init` only, never freed: reading them from any thread is safe.
  /// By the value that `names` has for their name.
  nonisolated(unsafe) let types: UnsafePointer<NativeLineType>

  private init(_ named: [(name: String, type: NativeLineType)]) {
    names = WordTable(named.map(\.name))
    let types = UnsafeMutablePointer<NativeLineType>.allocate(capacity: named.count)
    for (index, entry) in named.enumerated() { (types + index).initialize(to: entry.type) }
    self.types = UnsafePointer(types)
  }
}
