import JSON

/// Finds the objects of a list in JSON text that arrives in pieces and may exceed memory.
///
/// The list is a member of one document, or the text itself: an array, nested arrays, several
/// consecutive arrays, or objects without an array. Only the current object is kept in memory.
struct JSONArrayReader: Sendable {
  enum Found {
    case element([UInt8])
    /// The name and text of another member of the document.
    case member(String, [UInt8])
    case tooLong
    /// A line with other content outside of arrays and objects.
    case other
  }

  /// The maximum size in bytes of an object or member that is kept.
  static let longest = 1 << 20

  private enum State: Sendable {
    case start
    case members
    case name
    case afterName
    case member(depth: Int)
    /// Within `depth` nested arrays, all of which belong to the list.
    case list(depth: Int)
    case element(depth: Int, list: Int)
    case ended
  }

  /// The name of the list, or `nil` if the text itself is the list.
  private let list: String?
  private let memberNames: Set<String>
  private var state: State
  private var name: [UInt8] = []
  private var bytes: [UInt8] = []
  private var isTooLong = false
  private var isInText = false
  private var isEscaped = false
  private var isLineStart = true
  private var hasOther = false
  private(set) var hasList: Bool

  init() {
    (list, memberNames, hasList) = (nil, [], true)
    state = .list(depth: 0)
  }

  /// Creates a parser for a document whose member `list` is the list. `members` are the names of
  /// other members to report.
  init(list: String, members: Set<String>) {
    (self.list, memberNames, hasList) = (list, members, false)
    state = .start
  }

  /// Parses a piece and reports the completed items. Takes O(length).
  mutating func receive(_ piece: UnsafeRawBufferPointer, _ found: (Found) -> Void) {
    for byte in piece {
      if isInText { processText(byte, found) } else { process(byte, found) }
      isLineStart = byte == 0x0A
      if hasOther, isLineStart {
        hasOther = false
        found(.other)
      }
    }
  }

  /// Parses a piece and calls `body` with each completed object as a value. Malformed objects are
  /// counted.
  mutating func receive(
    _ piece: UnsafeRawBufferPointer, into lines: inout NativeLines,
    _ body: (JSONValue, inout NativeLines) -> Void
  ) {
    receive(piece) { found in
      switch found {
      case .element(let bytes):
        guard let value = JSONValue(lenient: bytes) else {
          return lines.count(unknown: "malformed")
        }
        body(value, &lines)
      case .tooLong: lines.count(unknown: "too long")
      case .member, .other: lines.count(unknown: "malformed")
      }
    }
  }

  /// Processes a byte of a string. A string contains no line ending, so an unclosed string ends
  /// with its line.
  private mutating func processText(_ byte: UInt8, _ found: (Found) -> Void) {
    if byte == 0x0A {
      (isInText, isEscaped) = (false, false)
      if case .element(_, let list) = state { endElement(list, found) }
      return
    }
    if case .name = state, byte != UInt8(ascii: "\"") { name.append(byte) } else { append(byte) }
    if isEscaped {
      isEscaped = false
    } else if byte == UInt8(ascii: "\\") {
      isEscaped = true
    } else if byte == UInt8(ascii: "\"") {
      isInText = false
      if case .name = state { state = .afterName }
    }
  }

  private mutating func process(_ byte: UInt8, _ found: (Found) -> Void) {
    switch state {
    case .start: if byte == UInt8(ascii: "{") { state = .members }
    case .members:
      if byte == UInt8(ascii: "\"") {
        (name, isInText, state) = ([], true, .name)
      } else if byte == UInt8(ascii: "}") {
        state = .ended
      }
    case .afterName: beginMember(byte)
    case .member(let depth): processMember(byte, depth, found)
    case .list(let depth): processList(byte, depth)
    case .element(let depth, let list):
      // With one object per line, a truncated object must not consume the next object.
      if list == 0, isLineStart, byte == UInt8(ascii: "{") { endElement(0, found) }
      guard case .element = state else { return processList(byte, list) }
      append(byte)
      if byte == UInt8(ascii: "\"") { isInText = true }
      let depth = depth + Self.change(byte)
      if depth == 0 { endElement(list, found) } else { state = .element(depth: depth, list: list) }
    case .name, .ended: break
    }
  }

  private mutating func beginMember(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: ":"), 0x20, 0x09, 0x0A, 0x0D: return
    case UInt8(ascii: "[") where list.map { Array($0.utf8) } == name:
      hasList = true
      state = .list(depth: 1)
    default:
      begin(byte)
      state = .member(depth: Self.change(byte))
    }
  }

  private mutating func processMember(_ byte: UInt8, _ depth: Int, _ found: (Found) -> Void) {
    if depth == 0, byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") {
      let name = String(decoding: name, as: UTF8.self)
      if memberNames.contains(name), !isTooLong { found(.member(name, bytes)) }
      state = byte == UInt8(ascii: ",") ? .members : .ended
      return
    }
    append(byte)
    if byte == UInt8(ascii: "\"") { isInText = true }
    state = .member(depth: depth + Self.change(byte))
  }

  private mutating func processList(_ byte: UInt8, _ depth: Int) {
    switch byte {
    case UInt8(ascii: "{"):
      begin(byte)
      state = .element(depth: 1, list: depth)
    case UInt8(ascii: "["): state = .list(depth: depth + 1)
    case UInt8(ascii: "]"):
      state = depth <= 1 && list != nil ? .members : .list(depth: max(0, depth - 1))
    case UInt8(ascii: "\""):
      begin(byte)
      isInText = true
      hasOther = hasOther || depth == 0
    case UInt8(ascii: ","), 0x09...0x0D, 0x20: break
    default: hasOther = hasOther || depth == 0
    }
  }

  private mutating func begin(_ byte: UInt8) {
    bytes = [byte]
    isTooLong = false
    isInText = byte == UInt8(ascii: "\"")
  }

  private mutating func append(_ byte: UInt8) {
    if case .member = state, list != nil,
      !memberNames.contains(where: { $0.utf8.elementsEqual(name) })
    {
      return
    }
    if bytes.count < Self.longest { bytes.append(byte) } else { isTooLong = true }
  }

  private mutating func endElement(_ list: Int, _ found: (Found) -> Void) {
    found(isTooLong ? .tooLong : .element(bytes))
    bytes = []
    state = .list(depth: list)
  }

  /// Returns by how much a byte changes the nesting depth.
  private static func change(_ byte: UInt8) -> Int {
    switch byte {
    case UInt8(ascii: "{"), UInt8(ascii: "["): 1
    case UInt8(ascii: "}"), UInt8(ascii: "]"): -1
    default: 0
    }
  }
}
