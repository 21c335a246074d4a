/// Something that reads bytes that others wrote.
public protocol Parser: AnyObject {
  /// Reads the bytes and checks what must be true of every input; it ends the process if something is not.
  ///
  /// The same bytes must give the same result, whatever was read before.
  func read(_ bytes: UnsafeBufferPointer<UInt8>)
}

/// Ends the process, for libFuzzer to report, unless a rule holds.
@inlinable
public func check(_ rule: @autoclosure () -> String, _ holds: Bool) {
  if !holds { fatalError(rule()) }
}
