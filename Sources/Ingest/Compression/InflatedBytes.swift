import CZlib

/// Inflates a complete HTTP body.
package enum InflatedBytes {
  package enum Failure: Error, Equatable {
    /// The data is neither gzip nor deflate, or it is damaged.
    case corrupt
    /// The inflated data exceeds the limit.
    case tooLong
  }

  /// Returns the inflated body, if it has at most `limit` bytes. `body` is gzip, zlib or raw
  /// deflate data; senders call both zlib and raw deflate data "deflate" (RFC 9110, section
  /// 8.4.1.2). Takes O(length of the output).
  package static func read(_ body: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
    // Adding 32 makes zlib recognise headers of gzip and zlib. A negative number means raw data.
    do { return try inflated(body, windowBits: 15 + 32, limit) } catch {
      guard error == .corrupt, !body.starts(with: GzipReader.magic) else { throw error }
      return try inflated(body, windowBits: -15, limit)
    }
  }

  private static func inflated(
    _ body: [UInt8], windowBits: Int32, _ limit: Int
  ) throws(Failure) -> [UInt8] {
    var stream = z_stream()
    let result = withUnsafeMutablePointer(to: &stream) { stream -> Result<[UInt8], Failure> in
      guard
        inflateInit2_(stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
      else { return .failure(.corrupt) }
      defer { inflateEnd(stream) }
      return body.withUnsafeBufferPointer { run(stream, over: $0, limit) }
    }
    return try result.get()
  }

  private static func run(
    _ stream: UnsafeMutablePointer<z_stream>, over input: UnsafeBufferPointer<UInt8>, _ limit: Int
  ) -> Result<[UInt8], Failure> {
    // zlib only reads this memory; its declaration merely lacks a `const`.
    stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
    stream.pointee.avail_in = uInt(input.count)
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let (status, written) = buffer.withUnsafeMutableBufferPointer { target in
        stream.pointee.next_out = target.baseAddress
        stream.pointee.avail_out = uInt(target.count)
        let status = inflate(stream, Z_NO_FLUSH)
        return (status, target.count - Int(stream.pointee.avail_out))
      }
      output += buffer[..<written]
      guard output.count <= limit else { return .failure(.tooLong) }
      switch status {
      case Z_STREAM_END: return .success(output)
      case Z_OK where written > 0 || stream.pointee.avail_in > 0: continue
      default: return .failure(.corrupt)
      }
    }
  }
}
