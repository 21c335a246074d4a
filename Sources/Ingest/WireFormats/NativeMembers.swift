import LiveEvents

/// Memory for the members of one line, reused for every line of a decoder.
struct NativeMemberStorage: ~Copyable {
  let values: UnsafeMutablePointer<JSONValue>
  let keys = NativeMember.keys
  let userKeys = NativeMember.userKeys
  let types = NativeType.names

  init() {
    values = .allocate(capacity: NativeMember.allCases.count)
    values.initialize(repeating: JSONValue(), count: NativeMember.allCases.count)
  }

  deinit { values.deallocate() }

  /// Reads the members of the object that the tokens form. Unknown members are checked and skipped.
  ///
  /// Of members with one name the last counts. A member that is null counts as absent.
  /// Returns the set of members present; throws `malformedJSON` if the tokens form no object.
  mutating func read(_ tokens: JSONTokens) throws(RejectionReason) -> UInt64 {
    guard tokens.count > 0, tokens.byte(0) == UInt8(ascii: "{") else { throw .malformedJSON }
    var present: UInt64 = 0
    let values = self.values
    let keys = self.keys
    let userKeys = self.userKeys
    var unused = JSONValue()
    let end = tokens.object(at: 0) { key, token in
      guard let index = Self.find(key, in: keys, of: tokens) else {
        return tokens.value(at: token, into: &unused)
      }
      let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: index)
      if bit == NativeMember.user.bit {
        present &= ~NativeMember.userMembers
        if tokens.byte(token) == UInt8(ascii: "{") {
          present |= bit
          values[index].kind = .object
          return Self.readUser(tokens, at: token, userKeys, values, &present)
        }
      }
      let next = tokens.value(at: token, into: &values[index])
      present = values[index].kind == .null ? present & ~bit : present | bit
      return next
    }
    guard end == tokens.count else { throw .malformedJSON }
    return present
  }

  /// Reads the object in `user`; returns the token after it.
  @inline(__always)
  private static func readUser(
    _ tokens: JSONTokens, at token: Int, _ keys: WordTable,
    _ values: UnsafeMutablePointer<JSONValue>, _ present: inout UInt64
  ) -> Int? {
    var unused = JSONValue()
    return tokens.object(at: token) { key, token in
      guard let index = find(key, in: keys, of: tokens) else {
        return tokens.value(at: token, into: &unused)
      }
      let member = NativeMember.userID.rawValue &+ index
      let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: member)
      let next = tokens.value(at: token, into: &values[member])
      present = values[member].kind == .null ? present & ~bit : present | bit
      return next
    }
  }

  @inline(__always)
  static func find(_ name: JSONValue, in table: WordTable, of tokens: JSONTokens) -> Int? {
    let bytes = tokens.bytes + Int(name.start)
    if name.kind == .string { return table.value(of: bytes, count: Int(name.count)) }
    return findEscaped(UnsafeBufferPointer(start: bytes, count: Int(name.count)), in: table)
  }

  /// A name written with escapes is the same name.
  private static func findEscaped(
    _ bytes: UnsafeBufferPointer<UInt8>, in table: WordTable
  ) -> Int? {
    let slice = ByteSlab.Slice(offset: 0, count: bytes.count, escape: .json)
    let name = Array(String(Text(slab: ByteSlab(bytes), slice: slice)).utf8)
    return (name + [UInt8](repeating: 0, count: 8)).withUnsafeBufferPointer {
      table.value(of: $0.baseAddress.unsafelyUnwrapped, count: name.count)
    }
  }
}

/// The members of one line, read by what a type requires of them.
///
/// Each accessor throws `missingMember` or `invalidValue`. None copies text.
struct NativeMembers {
  let slab: ByteSlab
  /// Where the line begins in the slab.
  let lineOffset: Int
  let bytes: UnsafePointer<UInt8>
  let values: UnsafePointer<JSONValue>
  let present: UInt64

  @inline(__always)
  func has(_ member: NativeMember) -> Bool { present & member.bit != 0 }

  @inline(__always)
  func value(_ member: NativeMember) throws(RejectionReason) -> JSONValue {
    guard has(member) else { throw .missingMember }
    return values[member.rawValue]
  }

  @inline(__always)
  func bytes(of value: JSONValue) -> UnsafePointer<UInt8> { bytes + Int(value.start) }

  // MARK: Text

  /// A string, empty or not.
  @inline(__always)
  func slice(_ member: NativeMember) throws(RejectionReason) -> ByteSlab.Slice {
    let value = try value(member)
    guard value.kind == .string || value.kind == .escapedString else { throw .invalidValue }
    return ByteSlab.Slice(
      offset: lineOffset + Int(value.start), count: Int(value.count),
      escape: value.kind == .string ? .none : .json)
  }

  /// A string that may be absent; then the empty slice.
  @inline(__always)
  func optionalSlice(_ member: NativeMember) throws(RejectionReason) -> ByteSlab.Slice {
    has(member) ? try slice(member) : .empty
  }

  /// A string that names something, so it is not empty.
  @inline(__always)
  func nameSlice(_ member: NativeMember) throws(RejectionReason) -> ByteSlab.Slice {
    let slice = try slice(member)
    guard !slice.isEmpty else { throw .invalidValue }
    return slice
  }

  func text(_ member: NativeMember) throws(RejectionReason) -> Text {
    Text(slab: slab, slice: try slice(member))
  }

  func name(_ member: NativeMember) throws(RejectionReason) -> Text {
    Text(slab: slab, slice: try nameSlice(member))
  }

  /// One of the raw values of an enumeration.
  func choice<Choice: RawRepresentable<String>>(
    _ member: NativeMember
  ) throws(RejectionReason) -> Choice {
    guard let choice = Choice(rawValue: String(try text(member))) else { throw .invalidValue }
    return choice
  }

  // MARK: Numbers

  func integer(
    _ member: NativeMember, in range: ClosedRange<Int>
  ) throws(RejectionReason) -> Int {
    let value = try value(member)
    let number: Int?
    switch value.kind {
    case .integer: number = JSONScalar.integer(bytes(of: value), count: Int(value.count))
    case .decimal: number = Int(exactly: double(value))
    case .string, .escapedString, .yes, .no, .null, .object, .array: number = nil
    }
    guard let number, range.contains(number) else { throw .invalidValue }
    return number
  }

  func optionalInteger(
    _ member: NativeMember, in range: ClosedRange<Int>
  ) throws(RejectionReason) -> Int? {
    has(member) ? try integer(member, in: range) : nil
  }

  /// A time in milliseconds; a fraction is cut off, since many sources compute it in floating point.
  @inline(__always)
  func milliseconds(_ member: NativeMember, in range: ClosedRange<Int>)
    throws(RejectionReason) -> Int
  {
    let value = try value(member)
    guard value.kind == .decimal else { return try integer(member, in: range) }
    guard let number = Int(exactly: double(value).rounded(.down)), range.contains(number) else {
      throw .invalidValue
    }
    return number
  }

  func number(
    _ member: NativeMember, in range: ClosedRange<Double>
  ) throws(RejectionReason) -> Double {
    let value = try value(member)
    guard value.kind == .integer || value.kind == .decimal else { throw .invalidValue }
    let number = double(value)
    guard range.contains(number) else { throw .invalidValue }
    return number
  }

  func optionalNumber(
    _ member: NativeMember, in range: ClosedRange<Double>
  ) throws(RejectionReason) -> Double? {
    has(member) ? try number(member, in: range) : nil
  }

  func optionalBool(_ member: NativeMember) throws(RejectionReason) -> Bool? {
    guard has(member) else { return nil }
    switch values[member.rawValue].kind {
    case .yes: return true
    case .no: return false
    case .string, .escapedString, .integer, .decimal, .null, .object, .array: throw .invalidValue
    }
  }

  private func double(_ value: JSONValue) -> Double {
    JSONScalar.double(bytes(of: value), count: Int(value.count))
  }
}
