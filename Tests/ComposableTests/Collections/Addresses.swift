extension [Int] {
  /// The address of the elements, which changes when they are copied.
  var address: UnsafeRawPointer? { withUnsafeBytes { $0.baseAddress } }
}
