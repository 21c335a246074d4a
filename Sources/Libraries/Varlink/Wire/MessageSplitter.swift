package import NIOCore

/// Splits a byte stream into messages, each terminated by a NUL byte. A message longer than the
/// limit is an error. Every byte is examined once, however small the received pieces are.
package struct MessageSplitter: Sendable {
  package enum Failure: Error, Equatable {
    /// The current message has more bytes than ``maximumBytes``.
    case messageTooLong
  }

  /// The maximum length of a message without its NUL byte.
  package let maximumBytes: Int
  private var buffer = ByteBuffer()
  /// The number of bytes at the front of `buffer` that are known to contain no NUL.
  private var scanned = 0
  /// The length of the first message, if its end was found.
  private var firstLength: Int?

  package init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

  /// The number of held bytes: complete messages that were not returned yet, and an incomplete one.
  package var heldBytes: Int { buffer.readableBytes }

  /// The memory used for the held bytes, in bytes.
  package var allocatedBytes: Int { buffer.storageCapacity }

  /// Appends all of the bytes.
  /// - Complexity: amortized O(*n*) in the bytes appended.
  package mutating func append(_ bytes: inout ByteBuffer) {
    if buffer.readableBytes == 0 {
      buffer = bytes
      return
    }
    // If every write of a peer ends within the next message, the buffer never becomes empty. Moving
    // at most as many bytes as were consumed since the last move keeps the work linear and the
    // memory within twice the held bytes.
    if buffer.readerIndex >= buffer.readableBytes {
      let held = buffer.readableBytes + bytes.readableBytes
      var moved = ByteBufferAllocator().buffer(capacity: held)
      moved.writeBuffer(&buffer)
      buffer = moved
    }
    buffer.writeBuffer(&bytes)
  }

  /// Releases memory that the held bytes do not need, because a few remaining bytes would otherwise
  /// keep the buffer of a large read alive.
  ///
  /// - Complexity: amortized O(*n*) in the bytes appended, if called once per append.
  package mutating func compact() {
    guard buffer.storageCapacity > 2 * buffer.readableBytes + 1024 else { return }
    var moved = ByteBufferAllocator().buffer(capacity: buffer.readableBytes)
    moved.writeBuffer(&buffer)
    buffer = moved
  }

  /// Returns whether ``next()`` would return a message or throw.
  package mutating func hasNext() -> Bool {
    findEnd()
    return firstLength != nil || scanned > maximumBytes
  }

  /// Returns the next complete message without its NUL byte, or nil if none is complete.
  /// - Complexity: amortized O(*n*) in the bytes appended.
  package mutating func next() throws(Failure) -> ByteBuffer? {
    findEnd()
    guard let length = firstLength else {
      if scanned > maximumBytes { throw .messageTooLong }
      return nil
    }
    if length > maximumBytes { throw .messageTooLong }
    let message = buffer.readSlice(length: length)
    buffer.moveReaderIndex(forwardBy: 1)
    scanned = 0
    firstLength = nil
    // An emptied buffer is replaced; otherwise, a long-lived connection's buffer would grow.
    if buffer.readableBytes == 0 { buffer = ByteBuffer() }
    return message
  }

  private mutating func findEnd() {
    if firstLength != nil || scanned == buffer.readableBytes { return }
    let unseen = buffer.readableBytesView.dropFirst(scanned)
    if let end = unseen.firstIndex(of: 0) {
      firstLength = end - buffer.readerIndex
    } else {
      scanned = buffer.readableBytes
    }
  }
}
