extension UnsafeBufferPointer<UInt8> {
  /// Segments that zero bytes separate: enough for a first, a middle and a last one.
  func separated() -> [Slice<UnsafeBufferPointer<UInt8>>] { self[...].separated() }
}

extension Slice<UnsafeBufferPointer<UInt8>> {
  func separated() -> [Slice<UnsafeBufferPointer<UInt8>>] { split(separator: 0, maxSplits: 2) }
}
