import CZlib

/// Inflates gzip data piece by piece, as it arrives.
///
/// The data may consist of any number of members. Zero bytes after a member are skipped, as in
/// gzip(1), because tapes and some disks pad their blocks with zeros. Memory is bounded: one window
/// of zlib (32 KiB) and one output buffer.
package struct GzipReader: ~Copyable {
  /// The first two bytes of every gzip file (RFC 1952, section 2.3.1).
  package static let magic: [UInt8] = [0x1F, 0x8B]

  private static let outputSize = 64 * 1024
  /// The largest window, with a gzip header; see `inflateInit2` in zlib's manual.
  private static let windowBits: Int32 = 15 + 16

  // The stream is allocated separately, because zlib keeps its address.
  private let stream: UnsafeMutablePointer<z_stream>
  private let output: UnsafeMutableRawBufferPointer
  private var isInMember = false
  private var hasMember = false
  private var hasFailed = false

  /// - Throws: ``GzipError/outOfMemory``.
  package init() throws(GzipError) {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    output = .allocate(byteCount: Self.outputSize, alignment: 16)
    guard
      inflateInit2_(
        stream, Self.windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
    else { throw .outOfMemory }
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
    output.deallocate()
  }

  /// Inflates `input` and calls `body` with the output, in order. The buffers must not escape.
  /// Takes O(length of input and output).
  ///
  /// - Throws: ``GzipError/corrupt``, ``GzipError/outOfMemory``.
  package mutating func read(
    _ input: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(GzipError) {
    guard !hasFailed else { throw .corrupt }
    var rest = input
    while !rest.isEmpty {
      let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(1 << 30))
      rest = UnsafeRawBufferPointer(rebasing: rest[piece.count...])
      try inflatePiece(piece, body)
    }
  }

  /// Checks at the end of the input that it is complete.
  ///
  /// - Throws: ``GzipError/truncated`` if the input ends within a member; ``GzipError/corrupt`` if
  ///   reading failed before.
  package func finish() throws(GzipError) {
    if hasFailed { throw .corrupt }
    if isInMember { throw .truncated }
  }

  private mutating func inflatePiece(
    _ piece: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(GzipError) {
    // zlib only reads this memory; its declaration merely lacks a `const`.
    stream.pointee.next_in = UnsafeMutablePointer(
      mutating: piece.baseAddress?.assumingMemoryBound(to: UInt8.self))
    stream.pointee.avail_in = UInt32(piece.count)
    repeat {
      if hasMember, !isInMember { skipZeros() }
      isInMember = isInMember || stream.pointee.avail_in > 0
      guard isInMember else { return }
      stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
      stream.pointee.avail_out = UInt32(output.count)
      let status = inflate(stream, Z_NO_FLUSH)
      let written = output.count - Int(stream.pointee.avail_out)
      if written > 0 { body(UnsafeRawBufferPointer(rebasing: output[..<written])) }
      switch status {
      case Z_STREAM_END:
        (isInMember, hasMember) = (false, true)
        inflateReset(stream)
      case Z_OK, Z_BUF_ERROR: break
      case Z_MEM_ERROR: throw .outOfMemory
      default:
        hasFailed = true
        throw .corrupt
      }
      // If the output buffer is full, more output may follow without further input.
    } while stream.pointee.avail_in > 0 || isInMember && stream.pointee.avail_out == 0
  }
}

extension GzipReader {
  /// Skips zero bytes between members.
  private func skipZeros() {
    while stream.pointee.avail_in > 0, let next = stream.pointee.next_in, next.pointee == 0 {
      stream.pointee.next_in = next + 1
      stream.pointee.avail_in -= 1
    }
  }
}

/// The reason why gzip data cannot be read.
package enum GzipError: Error, Hashable {
  /// The data violates the format, or a checksum does not match.
  case corrupt
  /// The data ends within a member.
  case truncated
  case outOfMemory
}

extension GzipError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .corrupt: "not valid gzip data"
    case .truncated: "the gzip data is truncated"
    case .outOfMemory: "not enough memory to inflate the gzip data"
    }
  }
}
