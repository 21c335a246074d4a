extension UInt8 {
  /// The byte of the lower-case letter for an upper-case ASCII letter, otherwise the byte itself.
  /// UTF-8 stays valid.
  @inlinable
  public var asciiLowercased: UInt8 {
    self &- UInt8(ascii: "A") < 26 ? self | 0x20 : self
  }
}
