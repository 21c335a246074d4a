package import NIOCore

/// Splits a byte stream into messages, each ended by a NUL byte.
///
/// An incomplete message is not an error; one longer than the limit is. Every byte is examined only
/// once, however small the pieces in which it arrives.
package struct MessageSplitter: Sendable {
  package enum Failure: Error, Equatable {
    /// The message in progress has more bytes than ``maximumBytes``.
    case messageTooLong
  }

  /// Longest message, without its NUL byte.
  package let maximumBytes: Int
  private var buffer = ByteBuffer()
  /// How many bytes at the front of `buffer` are known to contain no NUL.
  private var scanned = 0
  /// The length of the first message, once its end has been found.
  private var firstLength: Int?

  package init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

  /// The number of bytes held: complete messages not taken yet, and the beginning of one more.
  package var heldBytes: Int { buffer.readableBytes }

  /// The memory used for them, in bytes.
  package var allocatedBytes: Int { buffer.storageCapacity }

  /// Takes all of the bytes.
  /// - Complexity: amortized O(*n*) in the bytes appended.
  package mutating func append(_ bytes: inout ByteBuffer) {
    if buffer.readableBytes == 0 {
      buffer = bytes
      return
    }
    // If every write of a peer ends within the next message, the buffer never becomes empty. Moving
    // at most as much as was taken since the last time keeps the work linear, and the memory within
    // twice what is held.
    if buffer.readerIndex >= buffer.readableBytes {
      let held = buffer.readableBytes + bytes.readableBytes
      var moved = ByteBufferAllocator().buffer(capacity: held)
      moved.writeBuffer(&buffer)
      buffer = moved
    }
    buffer.writeBuffer(&bytes)
  }

  /// Gives back what the bytes held do not need: a few bytes may be part of a large read.
  ///
  /// - Complexity: amortized O(*n*) in the bytes appended, if called once for each of them.
  package mutating func compact() {
    guard buffer.storageCapacity > 2 * buffer.readableBytes + 1024 else { return }
    var moved = ByteBufferAllocator().buffer(capacity: buffer.readableBytes)
    moved.writeBuffer(&buffer)
    buffer = moved
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
