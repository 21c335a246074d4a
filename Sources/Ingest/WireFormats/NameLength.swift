import LiveEvents

extension ByteSlab.Slice {
  /// Whether the text here is no longer than a name may be. Escapes are not counted: what is recorded
  /// may be written with others.
  @inline(__always)
  func isName(in slab: ByteSlab) -> Bool {
    if count <= EventLimits.nameLength { return true }
    return escape != .none
      && Text(slab: slab, slice: self).withUTF8 { $0.count } <= EventLimits.nameLength
  }
}
