extension UnsafeBufferPointer<UInt8> {
  /// Splits the bytes at zero bytes into at most three segments: a first, a middle and a last
  /// segment.
  func separated() -> [Slice<UnsafeBufferPointer<UInt8>>] { self[...].separated() }
}

extension Slice<UnsafeBufferPointer<UInt8>> {
  func separated() -> [Slice<UnsafeBufferPointer<UInt8>>] { split(separator: 0, maxSplits: 2) }
}
