import LiveEvents

/// The members of one line, with accessors for the requirements of each event type.
///
/// Each member is read in one of three ways:
///
/// - Required: the accessor throws `missingMember` or `invalidValue`, and the line is rejected.
/// - Optional (`optional...`): an unusable value counts as absent, and is counted as a
///   ``DecodingRemark``. A person's message or a moderator's action must not be lost because of an
///   optional member.
/// - Exact (`exact...`): the member may be absent, but an invalid value rejects the line. Such
///   members determine the effect of host actions, which must not be guessed.
///
/// The accessors copy no text. The type is not copyable, because a copy of a slab reference would
/// cost a reference count for every line.
struct NativeMembers: ~Copyable {
  /// The slab of the line, unretained because reference counting would cost time for every line.
  /// The caller that decodes the line keeps the slab alive.
  private let borrowedSlab: Unmanaged<ByteSlab>
  /// The offset in the slab of the indexed bytes, which contain one or several lines.
  let bytesOffset: Int
  let tokens: JSONTokens
  let values: UnsafePointer<TokenValue>
  /// The number of the line. ``lines`` contains for each member the number of the last line that
  /// had it.
  let number: UInt64
  let lines: UnsafePointer<UInt64>
  /// The member that was read last, which is the cause if the line is rejected.
  let lastRead: UnsafeMutablePointer<NativeMember>
  /// The remarks about the line; see ``LineDecoder/removeRemarks()``.
  let remarks: UnsafeMutablePointer<[DecodingRemark]>

  init(
    _ storage: borrowing NativeMemberStorage, of slab: ByteSlab, at offset: Int,
    _ tokens: JSONTokens
  ) {
    borrowedSlab = .passUnretained(slab)
    bytesOffset = offset
    self.tokens = tokens
    values = UnsafePointer(storage.values)
    number = storage.line
    lines = UnsafePointer(storage.lines)
    lastRead = storage.lastRead
    remarks = storage.remarks
  }

  var slab: ByteSlab { borrowedSlab.takeUnretainedValue() }

  @inline(__always)
  func has(_ member: NativeMember) -> Bool { lines[member.rawValue] == number }

  @inline(__always)
  func value(_ member: NativeMember) throws(RejectionReason) -> TokenValue {
    lastRead.pointee = member
    guard has(member) else { throw .missingMember }
    return values[member.rawValue]
  }

  /// Returns the rejection reason for a member whose value the event type does not allow. Marks the
  /// member as the cause.
  func invalid(_ member: NativeMember) -> RejectionReason {
    lastRead.pointee = member
    return .invalidValue
  }

  @inline(__always)
  func bytes(of value: TokenValue) -> UnsafePointer<UInt8> { tokens.bytes + Int(value.start) }

  // MARK: Members that may be absent

  /// Returns the result of `read` for an optional member, or `nil` if the member is absent or
  /// unusable. Counts an unusable member.
  @inline(__always)
  func optional<Value>(
    _ member: NativeMember,
    _ read: (borrowing NativeMembers, NativeMember) throws(RejectionReason) -> Value
  ) -> Value? {
    guard has(member) else { return nil }
    do throws(RejectionReason) {
      return try read(self, member)
    } catch {
      remarks.pointee.append(.field(member.path))
      return nil
    }
  }

  /// Returns the result of `read`, or `nil` if the member is absent. Throws if the member's value
  /// is invalid.
  func exact<Value>(
    _ member: NativeMember,
    _ read: (borrowing NativeMembers, NativeMember) throws(RejectionReason) -> Value
  ) throws(RejectionReason) -> Value? {
    has(member) ? try read(self, member) : nil
  }

  func optionalName(_ member: NativeMember) -> Text? {
    optional(member) { (line, member) throws(RejectionReason) in try line.name(member) }
  }

  func exactName(_ member: NativeMember) throws(RejectionReason) -> Text? {
    try exact(member) { (line, member) throws(RejectionReason) in try line.name(member) }
  }

  /// Returns a text, or `nil` if the member is absent, unusable or empty.
  func optionalText(_ member: NativeMember) -> Text? {
    optional(member) { (line, member) throws(RejectionReason) in try line.text(member) }
      .flatMap { $0.isEmpty ? nil : $0 }
  }

  func optionalShortText(_ member: NativeMember) -> Text? {
    optional(member) { (line, member) throws(RejectionReason) in try line.shortText(member) }
  }

  func optionalInteger(_ member: NativeMember, in range: ClosedRange<Int>) -> Int? {
    optional(member) { (line, member) throws(RejectionReason) in
      try line.integer(member, in: range)
    }
  }

  func exactInteger(
    _ member: NativeMember, in range: ClosedRange<Int>
  ) throws(RejectionReason) -> Int? {
    try exact(member) { (line, member) throws(RejectionReason) in
      try line.integer(member, in: range)
    }
  }

  func optionalTimestamp(_ member: NativeMember) -> Timestamp? {
    optional(member) { (line, member) throws(RejectionReason) in
      Timestamp(try line.milliseconds(member, in: Self.timestamps))
    }
  }

  func optionalNumber(_ member: NativeMember, in range: ClosedRange<Double>) -> Double? {
    optional(member) { (line, member) throws(RejectionReason) in try line.number(member, in: range)
    }
  }

  func optionalBool(_ member: NativeMember) -> Bool? {
    optional(member) { (line, member) throws(RejectionReason) in try line.bool(member) }
  }

  func exactBool(_ member: NativeMember) throws(RejectionReason) -> Bool? {
    try exact(member) { (line, member) throws(RejectionReason) in try line.bool(member) }
  }

  // MARK: Text

  /// Returns the location of a string, which may be empty.
  @inline(__always)
  func slice(_ member: NativeMember) throws(RejectionReason) -> ByteSlab.Slice {
    try slice(of: try value(member))
  }

  @inline(__always)
  private func slice(of value: TokenValue) throws(RejectionReason) -> ByteSlab.Slice {
    guard value.kind == .string || value.kind == .escapedString else { throw .invalidValue }
    return ByteSlab.Slice(
      offset: bytesOffset + Int(value.start), count: Int(value.count),
      escape: value.kind == .string ? .none : .json)
  }

  /// Returns the location of a string short enough for a name, which may be empty.
  @inline(__always)
  func shortSlice(_ member: NativeMember) throws(RejectionReason) -> ByteSlab.Slice {
    let slice = try slice(member)
    guard slice.isName(in: slab) else { throw .invalidValue }
    return slice
  }

  /// Returns the location of a name, which must not be empty.
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

  /// Returns the case of an enumeration whose raw value the member has. Searches linearly, because
  /// the cases are few.
  func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ member: NativeMember
  ) throws(RejectionReason) -> Choice {
    let choice = try name(member).withUTF8 { utf8 in
      Choice.allCases.first { $0.rawValue.utf8.elementsEqual(utf8) }
    }
    guard let choice else { throw .invalidValue }
    return choice
  }

  // MARK: Numbers

  func integer(
    _ member: NativeMember, in range: ClosedRange<Int>
  ) throws(RejectionReason) -> Int {
    try integer(of: try value(member), in: range)
  }

  /// Returns an integer, which may be written as 3, 3.0 or 3e0. Inlined because every line has a
  /// timestamp, and a call would copy the members.
  @inline(__always)
  private func integer(
    of value: TokenValue, in range: ClosedRange<Int>
  ) throws(RejectionReason) -> Int {
    let number: Int?
    switch value.kind {
    case .integer: number = JSONScalar.integer(bytes(of: value), count: Int(value.count))
    case .decimal: number = Int(exactly: double(value))
    case .string, .escapedString, .yes, .no, .null, .object, .array: number = nil
    }
    guard let number, range.contains(number) else { throw .invalidValue }
    return number
  }

  /// Returns a time in milliseconds. Rounds a fraction down, because many sources compute times in
  /// floating point.
  @inline(__always)
  func milliseconds(_ member: NativeMember, in range: ClosedRange<Int>)
    throws(RejectionReason) -> Int
  {
    let value = try value(member)
    guard value.kind == .decimal else { return try integer(of: value, in: range) }
    guard let number = Int(exactly: double(value).rounded(.down)), range.contains(number) else {
      throw .invalidValue
    }
    return number
  }

  static var timestamps: ClosedRange<Int> {
    Int(EventLimits.timestamps.lowerBound)...Int(EventLimits.timestamps.upperBound)
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

  private func bool(_ member: NativeMember) throws(RejectionReason) -> Bool {
    switch try value(member).kind {
    case .yes: return true
    case .no: return false
    case .string, .escapedString, .integer, .decimal, .null, .object, .array: throw .invalidValue
    }
  }

  private func double(_ value: TokenValue) -> Double {
    JSONScalar.double(bytes(of: value), count: Int(value.count))
  }

  // MARK: Arrays

  func names(
    _ member: NativeMember, atMost limit: Int, ofLength length: Int = EventLimits.nameLength
  ) throws(RejectionReason) -> [Text] {
    var names: [Text] = []
    try forEachElement(of: try array(member)) { element throws(RejectionReason) in
      let slice = try slice(of: element)
      guard !slice.isEmpty, slice.isName(in: slab, ofLength: length), names.count < limit
      else { throw .invalidValue }
      names.append(Text(slab: slab, slice: slice))
    }
    return names
  }

  func numbers(
    _ member: NativeMember, in range: ClosedRange<Double>, atMost limit: Int
  ) throws(RejectionReason) -> [Float] {
    var numbers: [Float] = []
    try forEachElement(of: try array(member)) { element throws(RejectionReason) in
      guard element.kind == .integer || element.kind == .decimal, numbers.count < limit else {
        throw .invalidValue
      }
      let number = double(element)
      guard range.contains(number) else { throw .invalidValue }
      numbers.append(Float(number))
    }
    return numbers
  }

  func integers(
    _ member: NativeMember, in range: ClosedRange<Int>, atMost limit: Int
  ) throws(RejectionReason) -> [Int] {
    var integers: [Int] = []
    try forEachElement(of: try array(member)) { element throws(RejectionReason) in
      guard integers.count < limit else { throw .invalidValue }
      integers.append(try integer(of: element, in: range))
    }
    return integers
  }

  private func array(_ member: NativeMember) throws(RejectionReason) -> TokenValue {
    let value = try value(member)
    guard value.kind == .array else { throw .invalidValue }
    return value
  }

  /// Calls `body` with each element of an array. The grammar of the array is already checked.
  func forEachElement(
    of array: TokenValue, _ body: (TokenValue) throws(RejectionReason) -> Void
  ) throws(RejectionReason) {
    var token = Int(array.token) + 1
    guard tokens.byte(token) != UInt8(ascii: "]") else { return }
    var element = TokenValue()
    while let next = tokens.value(at: token, into: &element) {
      try body(element)
      guard tokens.byte(next) == UInt8(ascii: ",") else { return }
      token = next + 1
    }
  }
}
