import LiveEvents

/// The members of one line, read by what a type requires of them.
///
/// Each accessor throws `missingMember` or `invalidValue`. None copies text.
struct NativeMembers {
  let slab: ByteSlab
  /// Where `bytes` stands in the slab.
  let bytesOffset: Int
  /// What the places of the values are counted from: the line or what was indexed with it.
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
      offset: bytesOffset + Int(value.start), count: Int(value.count),
      escape: value.kind == .string ? .none : .json)
  }

  /// A string that may be absent; then the empty slice.
  @inline(__always)
  func optionalSlice(_ member: NativeMember) throws(RejectionReason) -> ByteSlab.Slice {
    has(member) ? try slice(member) : .empty
  }

  /// A string that is a name, perhaps an empty one.
  @inline(__always)
  func shortSlice(_ member: NativeMember) throws(RejectionReason) -> ByteSlab.Slice {
    let slice = try slice(member)
    guard NativeLimits.isName(slice, in: slab) else { throw .invalidValue }
    return slice
  }

  /// A string that names something, so it is not empty.
  @inline(__always)
  func nameSlice(_ member: NativeMember) throws(RejectionReason) -> ByteSlab.Slice {
    let slice = try shortSlice(member)
    guard !slice.isEmpty else { throw .invalidValue }
    return slice
  }

  func text(_ member: NativeMember) throws(RejectionReason) -> Text {
    Text(slab: slab, slice: try slice(member))
  }

  func shortText(_ member: NativeMember) throws(RejectionReason) -> Text {
    Text(slab: slab, slice: try shortSlice(member))
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
