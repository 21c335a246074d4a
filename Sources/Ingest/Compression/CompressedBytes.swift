import CZlib

/// Bytes that are kept compressed in memory, for a while.
package struct CompressedBytes: Sendable {
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

  /// - Complexity: O(count of `bytes`).
  package init(_ bytes: [UInt8]) {
    count = bytes.count
    var size = compressBound(uLong(bytes.count))
    let packed = [UInt8](unsafeUninitializedCapacity: Int(size)) { target, written in
      let status = compress2(
        target.baseAddress, &size, bytes, uLong(bytes.count), Z_BEST_SPEED)
      // The target is large enough for anything, so memory is all that can be missing.
      precondition(status == Z_OK, "not enough memory to compress")
      written = Int(size)
    }
    // A copy, without the capacity that was not needed.
    stored = packed.withUnsafeBufferPointer { Array($0) }
  }

  /// The bytes as they were.
  ///
  /// - Complexity: O(``count``).
  package var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { target, written in
      var size = uLong(count)
      let status = uncompress(target.baseAddress, &size, stored, uLong(stored.count))
      precondition(status == Z_OK && Int(size) == count, "what was compressed can be inflated")
      written = Int(size)
    }
  }
}
