import Glibc
public import LiveEvents

extension ByteSlab {
  /// Returns the line that begins at `offset`, without its LF or CR LF, and moves `offset` past its
  /// end. Returns `nil` and leaves `offset` unchanged if the line is incomplete in this slab. Takes
  /// O(length of the line).
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
