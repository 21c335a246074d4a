import Glibc
import LiveEvents

/// A line of IRC with message tags, split into `@tags :nick!user@host COMMAND #channel :last`.
///
/// Described by RFC 1459, section 2.3.1, and the IRCv3 message-tags specification.
struct IRCLine {
  let slab: ByteSlab
  /// The offset of the line in the slab.
  let offset: Int
  let bytes: UnsafePointer<UInt8>
  let tags: UnsafePointer<ByteSpan>
  /// The set of known tags present.
  let present: UInt64
  let remarks: UnsafeMutablePointer<[DecodingRemark]>
  /// The number of the line among those with tags that its decoder has read.
  let number: Int
  /// Whether the tags contain a backslash, so that there may be escapes to resolve.
  let mayEscape: Bool
  /// The name before the `!` of the prefix; empty if there is none.
  var nick = ByteSpan()
  var command = ByteSpan()
  /// The first parameter; empty if there is none.
  var target = ByteSpan()
  /// The last of several parameters, which is the text of a message.
  var last: ByteSpan?

  private static let maximumParameters = 15

  /// Splits a line; `nil` if it violates the grammar.
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
    var i = 0
    if bytes[0] == UInt8(ascii: "@") {
      guard let (present, rest) = tags.read(bytes, count: count) else { return nil }
      self.present = present
      mayEscape = ByteSearch.contains(UInt8(ascii: "\\"), in: bytes, count: rest)
      i = rest
    } else {
      present = 0
      mayEscape = false
    }
    number = tags.lines
    func word() -> ByteSpan {
      while i < count, bytes[i] == 0x20 { i += 1 }
      let start = i
      let space = memchr(bytes + i, 0x20, count - i)
      i = space.map { UnsafeRawPointer($0) - UnsafeRawPointer(bytes) } ?? count
      return ByteSpan(start: start, end: i)
    }
    while i < count, bytes[i] == 0x20 { i += 1 }
    if i < count, bytes[i] == UInt8(ascii: ":") {
      let prefix = word()
      var end = prefix.start + 1
      while end < prefix.end, bytes[end] != UInt8(ascii: "!") { end += 1 }
      nick = ByteSpan(start: prefix.start + 1, end: end)
    }
    command = word()
    guard !command.isEmpty else { return nil }
    // Only the first parameter and the last one are used. The last may begin with a colon, and must
    // if it contains spaces, unless it is the fifteenth.
    var parameters = 0
    while true {
      while i < count, bytes[i] == 0x20 { i += 1 }
      guard i < count else { return }
      parameters += 1
      if bytes[i] == UInt8(ascii: ":") {
        last = ByteSpan(start: i + 1, end: count)
        return
      }
      if parameters == Self.maximumParameters {
        last = ByteSpan(start: i, end: count)
        return
      }
      let parameter = word()
      if parameters == 1 { target = parameter } else { last = parameter }
    }
  }

  // MARK: Tags

  @inline(__always)
  func has(_ tag: IRCTag) -> Bool { present & tag.bit != 0 }

  /// A tag's value; the empty slice if the tag is absent.
  @inline(__always)
  func slice(_ tag: IRCTag) -> ByteSlab.Slice {
    guard has(tag) else { return .empty }
    return slice(tags[tag.rawValue], isTag: true)
  }

  /// The value of a tag that must be present, not empty, and no longer than a name may be.
  @inline(__always)
  func required(_ tag: IRCTag) throws(RejectionReason) -> ByteSlab.Slice {
    let slice = try name(slice(tag))
    guard !slice.isEmpty else { throw .malformedIRC }
    return slice
  }

  /// The value of a tag that the event can do without, as a name; the empty slice if it is absent or too long for one,
  /// which is counted.
  @inline(__always)
  func optionalName(_ tag: IRCTag) -> ByteSlab.Slice {
    let slice = slice(tag)
    guard !slice.isName(in: slab) else { return slice }
    return ignore(tag) ?? .empty
  }

  /// Counts a tag whose value cannot be used.
  func note(_ tag: IRCTag) { remarks.pointee.append(.field(tag.name)) }

  /// The same, in place of the value.
  func ignore<Value>(_ tag: IRCTag) -> Value? {
    note(tag)
    return nil
  }

  /// A text that is a name, possibly empty. It must not be longer than names in native lines,
  /// because it is recorded in one.
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

  /// A tag's value as a whole number; `nil` if the tag is absent or empty, or its value is of another kind or out of
  /// range, which is counted.
  @inline(__always)
  func integer(_ tag: IRCTag, in range: ClosedRange<Int>) -> Int? {
    guard has(tag), !tags[tag.rawValue].isEmpty else { return nil }
    let span = tags[tag.rawValue]
    let start = bytes + span.start
    var i = start[0] == UInt8(ascii: "-") ? 1 : 0
    guard i < span.count, span.count <= 18 else { return ignore(tag) }
    var value = 0
    while i < span.count {
      let digit = start[i] &- UInt8(ascii: "0")
      guard digit <= 9 else { return ignore(tag) }
      value = value &* 10 &+ Int(digit)
      i += 1
    }
    if start[0] == UInt8(ascii: "-") { value = -value }
    return range.contains(value) ? value : ignore(tag)
  }
}
