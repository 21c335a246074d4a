import LiveEvents

extension ByteSlab.Slice {
  /// Returns whether the text of the slice has at most `length` bytes after resolving escapes,
  /// because recordings may escape the same text differently.
  @inline(__always)
  func isName(in slab: @autoclosure () -> ByteSlab, ofLength length: Int = EventLimits.nameLength)
    -> Bool
  {
    if count <= length { return true }
    return escape != .none && Text(slab: slab(), slice: self).withUTF8 { $0.count } <= length
  }
}
