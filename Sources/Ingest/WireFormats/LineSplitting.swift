import Glibc
public import LiveEvents

extension ByteSlab {
  /// The line that begins at `offset` and ends in this slab, without its LF or CR LF. Moves
  /// `offset` behind its end.
  ///
  /// Returns `nil` and leaves `offset` where it is if no line ends there; what follows is the
  /// beginning of one. Complexity: O(length of the line).
  public func nextLine(at offset: inout Int) -> Slice? {
    withBytes { bytes in
      guard let base = bytes.baseAddress, offset < bytes.count,
        let found = memchr(base + offset, 0x0A, bytes.count - offset)
      else { return nil }
      let start = offset
      var end = UnsafeRawPointer(found) - UnsafeRawPointer(base)
      offset = end + 1
      if end > start, base[end - 1] == 0x0D { end -= 1 }
      return Slice(offset: start, count: end - start)
    }
  }
}
