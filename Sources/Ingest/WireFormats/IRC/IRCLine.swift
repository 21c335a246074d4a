import Glibc
import LiveEvents

/// A line of IRC with message tags, split into `@tags :nick!user@host COMMAND #channel :last`. RFC
/// 1459, section 2.3.1, and the IRCv3 message-tags specification define the grammar.
struct IRCLine {
  let slab: ByteSlab
  let offset: Int
  let bytes: UnsafePointer<UInt8>
  let tags: UnsafePointer<ByteSpan>
  /// The known tags that are present, one bit each.
  let present: UInt64
  let remarks: UnsafeMutablePointer<[DecodingRemark]>
  /// The number of this line among the lines with tags that the decoder has read.
  let number: Int
  /// Whether the tags contain a backslash and so may contain escapes.
  let mayEscape: Bool
  /// The name before the `!` of the prefix, or empty if there is none.
  var nick = ByteSpan()
  var command = ByteSpan()
  /// The first parameter, or empty if there is none.
  var target = ByteSpan()
  /// The last parameter if there are several, such as the text of a message.
  var last: ByteSpan?

  private static let maximumParameters = 15

  /// Splits a line. Returns `nil` if the line violates the grammar.
  @inline(__always)
  init?(
    _ slab: ByteSlab, _ bytes: UnsafePointer<UInt8>, count: Int, offset: Int,
    tags: inout IRCTagStorage
  ) {
    self.slab = slab
    self.offset = offset
    self.bytes = bytes
    self.tags = UnsafePointer(tags.values)
    remarks = tags.remarks
    var position = 0
    if bytes[0] == UInt8(ascii: "@") {
      guard let (present, rest) = tags.read(bytes, count: count) else { return nil }
      self.present = present
      mayEscape = ByteSearch.contains(UInt8(ascii: "\\"), in: bytes, count: rest)
      position = rest
    } else {
      present = 0
      mayEscape = false
    }
    number = tags.lines
    func word() -> ByteSpan {
      while position < count, bytes[position] == 0x20 { position += 1 }
      let start = position
      let space = memchr(bytes + position, 0x20, count - position)
      position = space.map { UnsafeRawPointer($0) - UnsafeRawPointer(bytes) } ?? count
      return ByteSpan(start: start, end: position)
    }
    while position < count, bytes[position] == 0x20 { position += 1 }
    if position < count, bytes[position] == UInt8(ascii: ":") {
      let prefix = word()
      var end = prefix.start + 1
      while end < prefix.end, bytes[end] != UInt8(ascii: "!") { end += 1 }
      nick = ByteSpan(start: prefix.start + 1, end: end)
    }
    command = word()
    guard !command.isEmpty else { return nil }
    // Only the first and the last parameter are used. The last parameter may begin with a colon. It
    // must begin with a colon if it contains spaces, unless it is the fifteenth.
    var parameters = 0
    while true {
      while position < count, bytes[position] == 0x20 { position += 1 }
      guard position < count else { return }
      parameters += 1
      if bytes[position] == UInt8(ascii: ":") {
        last = ByteSpan(start: position + 1, end: count)
        return
      }
      if parameters == Self.maximumParameters {
        last = ByteSpan(start: position, end: count)
        return
      }
      let parameter = word()
      if parameters == 1 { target = parameter } else { last = parameter }
    }
  }

  // MARK: Tags

  @inline(__always)
  func has(_ tag: IRCTag) -> Bool { present & tag.bit != 0 }

  /// Returns a tag's value, or the empty slice if the tag is absent.
  @inline(__always)
  func slice(_ tag: IRCTag) -> ByteSlab.Slice {
    guard has(tag) else { return .empty }
    return slice(tags[tag.rawValue], isTag: true)
  }

  /// Returns the value of a required tag. Throws if the tag is absent, empty, or too long for a
  /// name.
  @inline(__always)
  func required(_ tag: IRCTag) throws(RejectionReason) -> ByteSlab.Slice {
    let slice = try name(slice(tag))
    guard !slice.isEmpty else { throw .malformedIRC }
    return slice
  }

  /// Returns the value of an optional tag as a name, or the empty slice if the tag is absent. A
  /// value that is too long for a name is ignored and counted.
  @inline(__always)
  func optionalName(_ tag: IRCTag) -> ByteSlab.Slice {
    let slice = slice(tag)
    guard !slice.isName(in: slab) else { return slice }
    return ignore(tag) ?? .empty
  }

  func countUnusable(_ tag: IRCTag) { remarks.pointee.append(.field(tag.name)) }

  /// Counts a tag whose value is unusable, and returns `nil` in place of the value.
  func ignore<Value>(_ tag: IRCTag) -> Value? {
    countUnusable(tag)
    return nil
  }

  /// Returns `slice` if its text is short enough for a name. The limit of native lines applies,
  /// because recordings contain the text in a native line.
  @inline(__always)
  func name(_ slice: ByteSlab.Slice) throws(RejectionReason) -> ByteSlab.Slice {
    guard slice.isName(in: slab) else { throw .malformedIRC }
    return slice
  }

  @inline(__always)
  func slice(_ span: ByteSpan, isTag: Bool = false) -> ByteSlab.Slice {
    let isEscaped =
      isTag && mayEscape
      && ByteSearch.contains(UInt8(ascii: "\\"), in: bytes + span.start, count: span.count)
    // A lone backslash escapes nothing and has no meaning.
    if isEscaped, span.count == 1 { return .empty }
    return ByteSlab.Slice(
      offset: offset + span.start, count: span.count, escape: isEscaped ? .ircTag : .none)
  }

  func text(_ slice: ByteSlab.Slice) -> Text { Text(slab: slab, slice: slice) }

  /// Returns a tag's value as an integer, or `nil` if the tag is absent or empty. A value that is
  /// not an integer or is out of range is ignored and counted.
  @inline(__always)
  func integer(_ tag: IRCTag, in range: ClosedRange<Int>) -> Int? {
    guard has(tag), !tags[tag.rawValue].isEmpty else { return nil }
    let span = tags[tag.rawValue]
    let start = bytes + span.start
    var position = start[0] == UInt8(ascii: "-") ? 1 : 0
    guard position < span.count, span.count <= 18 else { return ignore(tag) }
    var value = 0
    while position < span.count {
      let digit = start[position] &- UInt8(ascii: "0")
      guard digit <= 9 else { return ignore(tag) }
      value = value &* 10 &+ Int(digit)
      position += 1
    }
    if start[0] == UInt8(ascii: "-") { value = -value }
    return range.contains(value) ? value : ignore(tag)
  }
}
