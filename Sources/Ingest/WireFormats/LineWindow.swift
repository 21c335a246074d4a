import Glibc
import LiveEvents

/// The tokens of many lines of a slab, found in one pass.
///
/// simdjson has a cost per call that is too high for a line of usual length. The pass begins and
/// ends with a line. Consecutive lines take their tokens from it; a line for which it would not
/// give exactly the same tokens as on its own is indexed by itself.
///
/// Why both ways agree: the pass fails if a string contains a control character, so no string
/// crosses the end of a line; nothing else that simdjson remembers survives the white space there.
struct LineWindow: ~Copyable {
  /// The longest part of a slab that is indexed at once, in bytes: it fits into the first-level
  /// cache together with its tokens, and a line that makes the pass fail affects few others.
  static let capacity = 16 * 1024

  private var indexer = JSONIndexer(capacity: LineWindow.capacity)
  /// Kept alive from the first to the last line of a window, so that no other slab gets its
  /// address.
  private var slab: ByteSlab?
  /// The offset of the window in the slab. Lines before `next` are not served.
  private var start = 0
  private var next = 0
  private var end = 0
  /// The first token not yet passed, and the number of tokens; 0 if there is nothing to serve.
  private var cursor = 0
  private var count = 0
  /// The offset in the slab of the first backslash from the last line on, or `end`.
  private var backslash = 0

  /// The tokens of a line that begins with an opening brace at `bytes`; `nil` if it must be indexed
  /// by itself. Later tokens of the window may follow those of the line.
  ///
  /// Complexity: O(length of the line), amortised over the lines of a slab in order.
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
      // A line has no more tokens than bytes: so one that is malformed is not read far past its end.
      count: min(count, cursor &+ line.count), limit: offset &+ line.count,
      mayEscape: backslash < lineEnd)
    return (tokens, start)
  }

  /// Skips the tokens of a line that was read, up to `token`. Releases the slab once no line of the
  /// window is left.
  @inline(__always)
  mutating func pass(to token: Int) { cursor = token }

  /// Releases the slab if `line` is the last one in the window.
  @inline(__always)
  mutating func release(after line: ByteSlab.Slice) {
    // LF, or CR LF, follows the line.
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
