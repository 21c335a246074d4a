import LiveEvents

/// Memory for the members of one line, reused for all lines of a decoder.
struct NativeMemberStorage: ~Copyable {
  let values: UnsafeMutablePointer<TokenValue>
  /// For each member, the number of the last line that had it. With line numbers, members need not
  /// be cleared between lines.
  let lines: UnsafeMutablePointer<UInt64>
  /// The number of the current line, starting at 1, or 0 before the first line.
  private(set) var line: UInt64 = 0
  let lastRead: UnsafeMutablePointer<NativeMember>
  let remarks: UnsafeMutablePointer<[DecodingRemark]>
  let keys = NativeMember.keys
  let userKeys = NativeMember.userKeys
  let types: NativeTypeTable

  /// - Parameter remarks: Must outlive this storage.
  init(_ types: NativeTypeTable, remarks: UnsafeMutablePointer<[DecodingRemark]>) {
    self.remarks = remarks
    self.types = types
    values = .allocate(capacity: NativeMember.allCases.count)
    values.initialize(repeating: TokenValue(), count: NativeMember.allCases.count)
    lines = .allocate(capacity: NativeMember.allCases.count)
    lines.initialize(repeating: 0, count: NativeMember.allCases.count)
    lastRead = .allocate(capacity: 1)
    lastRead.initialize(to: .type)
  }

  deinit {
    values.deallocate()
    lines.deallocate()
    lastRead.deallocate()
  }

  /// Reads the members of the object that the tokens form. Validates and skips unknown members.
  ///
  /// If a member occurs several times, its last value counts. A null member counts as absent.
  /// Returns the token after the object, or `nil` if the line's tokens do not form exactly one
  /// object.
  mutating func read(_ tokens: JSONTokens) -> Int? {
    let first = tokens.first
    guard tokens.count > first, tokens.byte(first) == UInt8(ascii: "{") else { return nil }
    line &+= 1
    let line = self.line
    let lines = self.lines
    let values = self.values
    let keys = self.keys
    let userKeys = self.userKeys
    var unused = TokenValue()
    let end = tokens.object(at: first) { key, token in
      guard let index = Self.find(key, in: keys, of: tokens) else {
        return tokens.value(at: token, into: &unused)
      }
      if index == NativeMember.user.rawValue {
        for member in NativeMember.userID.rawValue...NativeMember.userColor.rawValue {
          lines[member] = 0
        }
        if tokens.byte(token) == UInt8(ascii: "{") {
          lines[index] = line
          values[index].kind = .object
          return Self.readUser(tokens, at: token, userKeys, values, lines, line)
        }
      }
      let next = tokens.value(at: token, into: &values[index])
      lines[index] = values[index].kind == .null ? 0 : line
      return next
    }
    guard let end, tokens.isEnd(end) else { return nil }
    return end
  }

  /// Reads the object in `user` and returns the token after it.
  @inline(__always)
  private static func readUser(
    _ tokens: JSONTokens, at token: Int, _ keys: WordTable,
    _ values: UnsafeMutablePointer<TokenValue>, _ lines: UnsafeMutablePointer<UInt64>,
    _ line: UInt64
  ) -> Int? {
    var unused = TokenValue()
    return tokens.object(at: token) { key, token in
      guard let index = find(key, in: keys, of: tokens) else {
        return tokens.value(at: token, into: &unused)
      }
      let member = NativeMember.userID.rawValue &+ index
      let next = tokens.value(at: token, into: &values[member])
      lines[member] = values[member].kind == .null ? 0 : line
      return next
    }
  }

  @inline(__always)
  static func find(_ name: TokenValue, in table: WordTable, of tokens: JSONTokens) -> Int? {
    let bytes = tokens.bytes + Int(name.start)
    if name.kind == .string { return table.value(of: bytes, count: Int(name.count)) }
    return findEscaped(UnsafeBufferPointer(start: bytes, count: Int(name.count)), in: table)
  }

  /// Finds a name that is written with escapes, which denotes the same name as its unescaped form.
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
