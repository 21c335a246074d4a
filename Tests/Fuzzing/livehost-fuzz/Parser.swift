/// Something that reads bytes that others wrote.
protocol Parser: AnyObject {
  /// Reads the bytes and checks what must be true of every input; it ends the process if something is not.
  ///
  /// The same bytes must give the same result, whatever was read before.
  func read(_ bytes: UnsafeBufferPointer<UInt8>)
}

/// The parser that libFuzzer, which calls a C function without a context, is fuzzing.
enum UnderTest {
  nonisolated(unsafe) static var parser: (any Parser)?
}

/// Ends the process, for libFuzzer to report, unless a rule holds.
@inline(__always)
func check(_ rule: @autoclosure () -> String, _ holds: Bool) {
  if !holds { fatalError(rule()) }
}
