import LiveEvents

/// Writes texts one after the other into the bytes of a slab. Strings in between would take longer than everything
/// else that happens to a generated message.
struct TextWriter {
  /// Enough for the texts of a generated message.
  static let capacity = 160

  private let target: UnsafeMutableBufferPointer<UInt8>
  /// How many bytes were written.
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

  /// Where in the slab is what `write` appends.
  mutating func slice(_ write: (inout TextWriter) -> Void) -> ByteSlab.Slice {
    let start = count
    write(&self)
    return ByteSlab.Slice(offset: start, count: count - start)
  }
}
