/// A parser of untrusted bytes.
public protocol Parser: AnyObject {
  /// Reads the bytes and checks rules that hold for every input. Ends the process if a rule is
  /// broken.
  ///
  /// The result must depend only on the bytes, not on earlier inputs.
  func read(_ bytes: UnsafeBufferPointer<UInt8>)
}

/// Ends the process if a rule does not hold. libFuzzer reports the input.
@inlinable
public func check(_ rule: @autoclosure () -> String, _ holds: Bool) {
  if !holds { fatalError(rule()) }
}
