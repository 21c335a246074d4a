import Glibc
import LiveEvents

/// The JSON tokens of many consecutive lines of a slab, found in one pass, because calling simdjson
/// for each line is too expensive at usual line lengths.
///
/// A pass covers whole lines only. A line is indexed separately if the pass over the whole window
/// might find other tokens than a pass over this line alone. The pass fails if a string contains a
/// control character, so no string extends past the end of a line, and no other simdjson state
/// survives the white space between lines.
struct LineWindow: ~Copyable {
  /// The maximum number of bytes indexed in one pass. A window and its tokens fit into the
  /// first-level cache, and a line that makes the pass fail affects few other lines.
  static let capacity = 16 * 1024

  private var indexer = JSONIndexer(capacity: LineWindow.capacity)
  /// The slab of the window, kept alive until the window's last line so that no other slab gets its
  /// address.
  private var slab: ByteSlab?
  /// The offset of the window in the slab. Lines before `next` have been returned already.
  private var start = 0
  private var next = 0
  private var end = 0
  /// The first unread token. `count` is the number of tokens, or 0 if the pass failed.
  private var cursor = 0
  private var count = 0
  /// The offset in the slab of the first backslash at or after the last returned line, or `end`.
  private var backslash = 0

  /// Returns the tokens of a line that begins with an opening brace at `bytes`, or `nil` if the
  /// line must be indexed separately. Tokens of later lines may follow. Takes O(length of the
  /// line), amortised over the lines of a slab in order.
  @inline(__always)
  mutating func tokens(
    of line: ByteSlab.Slice, in slab: ByteSlab, at bytes: UnsafePointer<UInt8>
  ) -> (tokens: JSONTokens, offset: Int)? {
    let lineStart = Int(line.offset)
    let lineEnd = lineStart &+ line.count
    if self.slab !== slab || lineStart < next || lineStart >= end {
      index(slab, from: lineStart, at: bytes)
    }
    guard lineEnd < end else { return nil }
    next = lineEnd
    let offsets = indexer.offsets
    let offset = lineStart &- start
    while cursor < count, Int(offsets[cursor]) < offset { cursor &+= 1 }
    guard cursor < count, Int(offsets[cursor]) == offset else { return nil }
    if backslash < lineStart { findBackslash(from: lineStart, at: bytes) }
    let tokens = JSONTokens(
      bytes: bytes - offset, offsets: offsets, first: cursor,
      // A line has at most as many tokens as bytes. The limit keeps a malformed line from being
      // read far past its end.
      count: min(count, cursor &+ line.count), limit: offset &+ line.count,
      mayEscape: backslash < lineEnd)
    return (tokens, start)
  }

  /// Skips the tokens before `token`, after a line was read.
  @inline(__always)
  mutating func pass(to token: Int) { cursor = token }

  /// Releases the slab if `line` is the last line in the window.
  @inline(__always)
  mutating func release(after line: ByteSlab.Slice) {
    // The line end, LF or CR LF, has at most two bytes.
    if Int(line.offset) &+ line.count &+ 2 >= end { slab = nil }
  }

  @inline(never)
  private mutating func index(
    _ slab: ByteSlab, from lineStart: Int, at bytes: UnsafePointer<UInt8>
  ) {
    self.slab = slab
    start = lineStart
    next = lineStart
    cursor = 0
    count = 0
    let length = min(slab.count - lineStart, Self.capacity)
    guard let last = UnsafeBufferPointer(start: bytes, count: length).lastIndex(of: 0x0A) else {
      end = lineStart
      return
    }
    end = lineStart + last + 1
    count = indexer.count(bytes, last + 1) ?? 0
    findBackslash(from: lineStart, at: bytes)
  }

  private mutating func findBackslash(from lineStart: Int, at bytes: UnsafePointer<UInt8>) {
    guard let found = memchr(bytes, Int32(UInt8(ascii: "\\")), end - lineStart) else {
      backslash = end
      return
    }
    backslash = lineStart + (UnsafeRawPointer(found) - UnsafeRawPointer(bytes))
  }
}
