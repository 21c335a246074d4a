import LiveEvents

/// The members of one line, with accessors for what a type requires of them.
///
/// Each member is read in one of three ways:
///
/// - One that the event needs: the accessor throws `missingMember` or `invalidValue`, and the line is rejected.
/// - One that it can do without (`optional...`): a value that cannot be used counts as absent, and is counted as
///   a ``DecodingRemark``. What a person wrote, or a moderator did, must not be lost for a member beside it.
/// - One that decides what an act of the host does (`exact...`): it may be absent, but not wrong, since what was meant
///   must not be guessed.
///
/// No accessor copies text. Not copyable, because a copy counts a reference to the slab, with every line.
struct NativeMembers: ~Copyable {
  /// The slab, which whoever decodes the line keeps alive: a reference would be counted with every line.
  private let borrowedSlab: Unmanaged<ByteSlab>
  /// The offset in the slab of what was indexed: the line, or several.
  let bytesOffset: Int
  let tokens: JSONTokens
  let values: UnsafePointer<JSONValue>
  /// The number of the line, and for each member that of the last line that had it.
  let number: UInt64
  let lines: UnsafePointer<UInt64>
  /// The member that was read last, which is at fault if the line is rejected.
  let lastRead: UnsafeMutablePointer<NativeMember>
  /// What is to be counted beside the line; see ``LineDecoder/takeRemarks()``.
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
  func value(_ member: NativeMember) throws(RejectionReason) -> JSONValue {
    lastRead.pointee = member
    guard has(member) else { throw .missingMember }
    return values[member.rawValue]
  }

  /// Why a line is rejected whose member has a value that only the line's part knows to be wrong.
  func invalid(_ member: NativeMember) -> RejectionReason {
    lastRead.pointee = member
    return .invalidValue
  }

  @inline(__always)
  func bytes(of value: JSONValue) -> UnsafePointer<UInt8> { tokens.bytes + Int(value.start) }

  // MARK: Members that may be absent

  /// What `read` makes of a member that the event can do without; `nil` if that is absent or cannot be used.
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

  /// What `read` makes of a member that may be absent, but not wrong.
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

  /// Text that is not empty.
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

  /// A point in time.
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

  /// A string, empty or not.
  @inline(__always)
  func slice(_ member: NativeMember) throws(RejectionReason) -> ByteSlab.Slice {
    try slice(of: try value(member))
  }

  @inline(__always)
  private func slice(of value: JSONValue) throws(RejectionReason) -> ByteSlab.Slice {
    guard value.kind == .string || value.kind == .escapedString else { throw .invalidValue }
    return ByteSlab.Slice(
      offset: bytesOffset + Int(value.start), count: Int(value.count),
      escape: value.kind == .string ? .none : .json)
  }

  /// A string that is a name, possibly empty.
  @inline(__always)
  func shortSlice(_ member: NativeMember) throws(RejectionReason) -> ByteSlab.Slice {
    let slice = try slice(member)
    guard slice.isName(in: slab) else { throw .invalidValue }
    return slice
  }

  /// A string that is a name and not empty.
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

  /// One of the raw values of an enumeration, which are few and short.
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

  /// An integer, however it is written: 3, 3.0 or 3e0. Inlined, because every line has one, its time stamp, and
  /// a call would copy the members.
  @inline(__always)
  private func integer(
    of value: JSONValue, in range: ClosedRange<Int>
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

  /// A time in milliseconds. A fraction is cut off, because many sources compute it in floating
  /// point.
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

  private func double(_ value: JSONValue) -> Double {
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

  private func array(_ member: NativeMember) throws(RejectionReason) -> JSONValue {
    let value = try value(member)
    guard value.kind == .array else { throw .invalidValue }
    return value
  }

  /// Calls `body` with each element of an array, whose grammar has been checked.
  func forEachElement(
    of array: JSONValue, _ body: (JSONValue) throws(RejectionReason) -> Void
  ) throws(RejectionReason) {
    var token = Int(array.token) + 1
    guard tokens.byte(token) != UInt8(ascii: "]") else { return }
    var element = JSONValue()
    while let next = tokens.value(at: token, into: &element) {
      try body(element)
      guard tokens.byte(next) == UInt8(ascii: ",") else { return }
      token = next + 1
    }
  }
}
