import CSimdjson
import LiveEvents

/// Finds the tokens of one line of JSON with simdjson, and validates its UTF-8 on the way.
struct JSONIndexer: ~Copyable {
  private let indexer: OpaquePointer
  private let places: UnsafePointer<UInt32>

  /// Makes an indexer for lines of at most `capacity` bytes; keeps 4 bytes per byte of it.
  init(capacity: Int) {
    guard let indexer = livehost_json_indexer_create(capacity),
      let places = livehost_json_indexer_places(indexer)
    else { preconditionFailure("no memory for a JSON indexer of \(capacity) bytes") }
    self.indexer = indexer
    self.places = places
  }

  deinit { livehost_json_indexer_destroy(indexer) }

  /// Indexes a line. The tokens are valid until the next call.
  ///
  /// Throws `invalidUTF8` or `malformedJSON`. Complexity: O(`count`).
  @inline(__always)
  mutating func index(
    _ bytes: UnsafePointer<UInt8>, count: Int
  ) throws(RejectionReason) -> JSONTokens {
    var tokens = 0
    switch livehost_json_index(indexer, bytes, count, &tokens) {
    case LIVEHOST_JSON_INDEXED:
      return JSONTokens(
        bytes: bytes, places: places, count: tokens,
        mayEscape: ByteSearch.contains(UInt8(ascii: "\\"), in: bytes, count: count))
    case LIVEHOST_JSON_INVALID_UTF8: throw .invalidUTF8
    default: throw .malformedJSON
    }
  }
}
