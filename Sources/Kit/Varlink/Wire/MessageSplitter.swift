package import NIOCore

/// Cuts a byte stream into messages, each ended by a NUL byte.
///
/// A message that has not ended yet is no error; one longer than the limit is. Every byte is looked
/// at once, however small the pieces in which it arrives.
package struct MessageSplitter: Sendable {
  package enum Failure: Error, Equatable {
    /// The message in progress has more bytes than ``maximumBytes``.
    case messageTooLong
  }

  /// Longest message, without its NUL byte.
  package let maximumBytes: Int
  private var buffer = ByteBuffer()
  /// Bytes at the front of `buffer` known to hold no NUL.
  private var scanned = 0
  /// Length of the first message, once its end was found.
  private var firstLength: Int?

  package init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

  /// Bytes held: complete messages not taken yet and the beginning of one more.
  package var heldBytes: Int { buffer.readableBytes }

  /// Bytes of memory that the held ones take.
  package var allocatedBytes: Int { buffer.storageCapacity }

  /// Takes all of the bytes.
  /// - Complexity: amortized O(*n*) in the bytes appended.
  package mutating func append(_ bytes: inout ByteBuffer) {
    if buffer.readableBytes == 0 {
      buffer = bytes
      return
    }
    // A peer whose every write ends within the next message never empties the buffer. Moving no more
    // than was taken since the last time keeps the work linear, and the memory within twice of what
    // is held.
    if buffer.readerIndex >= buffer.readableBytes {
      let held = buffer.readableBytes + bytes.readableBytes
      var moved = ByteBufferAllocator().buffer(capacity: held)
      moved.writeBuffer(&buffer)
      buffer = moved
    }
    buffer.writeBuffer(&bytes)
  }

  /// Whether ``next()`` would return a message or throw.
  package mutating func hasNext() -> Bool {
    findEnd()
    return firstLength != nil || scanned > maximumBytes
  }

  /// The next complete message without its NUL byte, nil if none is complete.
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
    // A long-lived connection would otherwise keep growing one buffer.
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
