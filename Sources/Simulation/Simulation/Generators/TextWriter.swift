import LiveEvents

/// Writes texts consecutively into the bytes of a slab. Creating intermediate strings would take
/// longer than all other work on a generated message.
struct TextWriter {
  /// The maximum length of the texts of a generated message in bytes.
  static let capacity = 160

  private let target: UnsafeMutableBufferPointer<UInt8>
  private(set) var count = 0

  init(_ target: UnsafeMutableBufferPointer<UInt8>) { self.target = target }

  mutating func append(_ text: StaticString) {
    let bytes = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    _ = UnsafeMutableBufferPointer(rebasing: target[count...]).initialize(fromContentsOf: bytes)
    count += bytes.count
  }

  /// Appends a number that is not negative.
  mutating func append(_ number: Int) {
    var (rest, length) = (number / 10, 1)
    while rest > 0 { (rest, length) = (rest / 10, length + 1) }
    rest = number
    for position in stride(from: count + length - 1, through: count, by: -1) {
      target[position] = UInt8(ascii: "0") + UInt8(rest % 10)
      rest /= 10
    }
    count += length
  }

  /// Returns the slice of the slab that contains the output of `write`.
  mutating func slice(_ write: (inout TextWriter) -> Void) -> ByteSlab.Slice {
    let start = count
    write(&self)
    return ByteSlab.Slice(offset: start, count: count - start)
  }
}
