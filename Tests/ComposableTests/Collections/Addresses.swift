extension [Int] {
  /// Where the elements are; it changes when they are copied.
  var address: UnsafeRawPointer? { withUnsafeBytes { $0.baseAddress } }
}
