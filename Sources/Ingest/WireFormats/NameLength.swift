import LiveEvents

extension ByteSlab.Slice {
  /// Whether the text at a slice is short enough for a name. Escapes are not counted, because
  /// recordings may escape it differently.
  @inline(__always)
  func isName(in slab: @autoclosure () -> ByteSlab, ofLength length: Int = EventLimits.nameLength)
    -> Bool
  {
    if count <= length { return true }
    return escape != .none && Text(slab: slab(), slice: self).withUTF8 { $0.count } <= length
  }
}
