import CZlib

/// Bytes that are kept compressed in memory, for a while.
package struct CompressedBytes: Sendable {
  /// How far back zlib looks: no more of an example is of use.
  package static let window = 32 << 10

  /// What they were compressed to.
  package let stored: [UInt8]
  /// How many bytes there are.
  package let count: Int

  /// How many bytes they take.
  package var storedCount: Int { stored.count }

  /// Bytes that were compressed before.
  ///
  /// - Parameters:
  ///   - stored: the ``stored`` of others.
  ///   - count: their ``count``.
  package init(stored: [UInt8], count: Int) { (self.stored, self.count) = (stored, count) }

  /// - Parameter example: bytes that are like these, which ``bytes(like:)`` must get as well: what they have in common
  ///   takes next to nothing. Only its last ``window`` bytes are of use.
  /// - Complexity: O(count of `bytes` and of `example`).
  package init(_ bytes: [UInt8], like example: [UInt8] = []) {
    count = bytes.count
    let packed = Self.withStream { stream in
      var status = deflateInit_(
        stream, Z_BEST_SPEED, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
      defer { deflateEnd(stream) }
      if status == Z_OK, !example.isEmpty {
        status = deflateSetDictionary(stream, example, uInt(example.count))
      }
      let size = Int(deflateBound(stream, uLong(bytes.count)))
      return Self.run(stream, over: bytes, into: size) {
        // The target is large enough for anything, so memory is all that can be missing.
        precondition(
          status == Z_OK && deflate(stream, Z_FINISH) == Z_STREAM_END,
          "not enough memory to compress")
      }
    }
    // A copy, without the capacity that was not needed.
    stored = packed.withUnsafeBufferPointer { Array($0) }
  }

  /// The bytes as they were.
  ///
  /// - Parameter example: what they were compressed with.
  /// - Complexity: O(``count`` and count of `example`).
  package func bytes(like example: [UInt8] = []) -> [UInt8] {
    let bytes = Self.withStream { stream in
      let status = inflateInit_(stream, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
      defer { inflateEnd(stream) }
      return Self.run(stream, over: stored, into: count) {
        var last = status == Z_OK ? inflate(stream, Z_FINISH) : status
        if last == Z_NEED_DICT {
          last = inflateSetDictionary(stream, example, uInt(example.count))
          if last == Z_OK { last = inflate(stream, Z_FINISH) }
        }
        precondition(last == Z_STREAM_END, "what was compressed can be inflated")
      }
    }
    precondition(bytes.count == count, "what was compressed is as long as it was")
    return bytes
  }

  /// zlib keeps the address of its stream, so the stream must not move.
  private static func withStream<Result>(
    _ body: (UnsafeMutablePointer<z_stream>) -> Result
  ) -> Result {
    var stream = z_stream()
    return withUnsafeMutablePointer(to: &stream, body)
  }

  /// What `body` writes to a stream that reads `input`.
  private static func run(
    _ stream: UnsafeMutablePointer<z_stream>, over input: [UInt8], into size: Int,
    _ body: () -> Void
  ) -> [UInt8] {
    input.withUnsafeBufferPointer { input in
      // zlib only reads from there; its declaration merely lacks a `const`.
      stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
      stream.pointee.avail_in = uInt(input.count)
      return [UInt8](unsafeUninitializedCapacity: size) { target, written in
        stream.pointee.next_out = target.baseAddress
        stream.pointee.avail_out = uInt(size)
        body()
        written = Int(stream.pointee.total_out)
      }
    }
  }
}
