import CZlib

/// Bytes that are temporarily kept compressed in memory.
package struct CompressedBytes: Sendable {
  /// The size of zlib's window in bytes. Of an example, only this number of bytes at its end is
  /// useful.
  package static let window = 32 << 10

  package let stored: [UInt8]
  /// The number of uncompressed bytes.
  package let count: Int

  /// The number of compressed bytes.
  package var storedCount: Int { stored.count }

  /// Creates a value from another value's ``stored`` bytes and ``count``.
  package init(stored: [UInt8], count: Int) { (self.stored, self.count) = (stored, count) }

  /// Compresses bytes. Takes O(count of `bytes` and of `example`).
  ///
  /// - Parameter example: Bytes that resemble `bytes`. Content that the bytes share with its last
  ///   ``window`` bytes needs almost no space. ``bytes(like:)`` requires the same example.
  package init(_ bytes: [UInt8], like example: [UInt8] = []) {
    count = bytes.count
    let compressed = Self.withStream { stream in
      var status = deflateInit_(
        stream, Z_BEST_SPEED, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
      defer { deflateEnd(stream) }
      if status == Z_OK, !example.isEmpty {
        status = deflateSetDictionary(stream, example, uInt(example.count))
      }
      let size = Int(deflateBound(stream, uLong(bytes.count)))
      return Self.run(stream, over: bytes, into: size) {
        // The target is large enough for any input, so only a lack of memory causes a failure.
        precondition(
          status == Z_OK && deflate(stream, Z_FINISH) == Z_STREAM_END,
          "not enough memory to compress the bytes")
      }
    }
    // Copies the bytes to release the excess capacity.
    stored = compressed.withUnsafeBufferPointer { Array($0) }
  }

  /// Returns the uncompressed bytes, given the example used for compression. Takes O(``count`` and
  /// count of `example`).
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
        precondition(last == Z_STREAM_END, "compressed bytes cannot be inflated with this example")
      }
    }
    precondition(bytes.count == count, "inflated bytes have the wrong length")
    return bytes
  }

  /// Calls `body` with a stream at a fixed address, because zlib keeps the address of its stream.
  private static func withStream<Result>(
    _ body: (UnsafeMutablePointer<z_stream>) -> Result
  ) -> Result {
    var stream = z_stream()
    return withUnsafeMutablePointer(to: &stream, body)
  }

  /// Returns the bytes that `body` writes to a stream that reads `input`.
  private static func run(
    _ stream: UnsafeMutablePointer<z_stream>, over input: [UInt8], into size: Int,
    _ body: () -> Void
  ) -> [UInt8] {
    input.withUnsafeBufferPointer { input in
      // zlib only reads this memory; its declaration merely lacks a `const`.
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
