/// A number of at least so many digits, zeros before it if need be.
///
/// - Parameter number: zero or above.
func padded(_ number: some BinaryInteger, _ width: Int, radix: Int = 10) -> String {
  let digits = String(number, radix: radix)
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
