import CSimdjson
import LiveEvents

/// Finds the tokens in lines of JSON with simdjson, which also validates their UTF-8.
struct JSONIndexer: ~Copyable {
  private let indexer: OpaquePointer
  /// The offsets of the most recently found tokens, followed by the length of the indexed bytes.
  let offsets: UnsafePointer<UInt32>

  /// Creates an indexer for input of at most `capacity` bytes, with 4 bytes of memory per byte of
  /// capacity.
  init(capacity: Int) {
    guard let indexer = livehost_json_indexer_create(capacity),
      let offsets = livehost_json_indexer_places(indexer)
    else { preconditionFailure("out of memory for a JSON indexer of \(capacity) bytes") }
    self.indexer = indexer
    self.offsets = offsets
  }

  deinit { livehost_json_indexer_destroy(indexer) }

  /// Indexes a line. The tokens are valid until the next call. Throws `invalidUTF8` or
  /// `malformedJSON`. Takes O(`count`).
  @inline(__always)
  mutating func index(
    _ bytes: UnsafePointer<UInt8>, count: Int
  ) throws(RejectionReason) -> JSONTokens {
    var tokens = 0
    switch livehost_json_index(indexer, bytes, count, &tokens) {
    case LIVEHOST_JSON_INDEXED:
      return JSONTokens(
        bytes: bytes, offsets: offsets, first: 0, count: tokens, limit: count,
        mayEscape: ByteSearch.contains(UInt8(ascii: "\\"), in: bytes, count: count))
    case LIVEHOST_JSON_INVALID_UTF8: throw .invalidUTF8
    default: throw .malformedJSON
    }
  }

  /// Indexes several lines together and returns the number of their tokens. Returns `nil` if any
  /// line is not UTF-8, or has a string that is unterminated or contains a control character. Takes
  /// O(`length`).
  mutating func count(_ bytes: UnsafePointer<UInt8>, _ length: Int) -> Int? {
    var tokens = 0
    let status = livehost_json_index(indexer, bytes, length, &tokens)
    return status == LIVEHOST_JSON_INDEXED ? tokens : nil
  }
}
