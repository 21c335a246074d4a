/// Cuts bytes as they were read into lines. Holds at most the beginning of one line.
///
/// The line that a lost connection cut off is never passed on.
package struct LineSplitter: Sendable {
  private let maximumLength: Int
  private var rest: [UInt8] = []
  private var isSkipping = false
  /// Lines that were skipped because they are longer than the maximum.
  package private(set) var tooLong = 0

  /// - Parameter maximumLength: of a line in bytes, its line ending included.
  package init(maximumLength: Int) { self.maximumLength = maximumLength }

  /// Passes on each line that has ended, without its LF or CR LF.
  ///
  /// - Complexity: O(`bytes.count`), amortised.
  package mutating func receive(
    _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void
  ) {
    var bytes = bytes
    while let end = bytes.firstIndex(of: 0x0A) {
      let line = UnsafeRawBufferPointer(rebasing: bytes[..<end])
      bytes = UnsafeRawBufferPointer(rebasing: bytes[(end + 1)...])
      if isSkipping {
        isSkipping = false
      } else if rest.count + line.count >= maximumLength {
        skip()
        isSkipping = false
      } else if rest.isEmpty {
        body(Self.withoutCarriageReturn(line))
      } else {
        rest.append(contentsOf: line)
        rest.withUnsafeBytes { body(Self.withoutCarriageReturn($0)) }
        rest.removeAll(keepingCapacity: rest.capacity <= 4096)
      }
    }
    guard !isSkipping, !bytes.isEmpty else { return }
    if rest.count + bytes.count >= maximumLength {
      skip()
    } else {
      rest.append(contentsOf: bytes)
    }
  }

  private mutating func skip() {
    tooLong += 1
    isSkipping = true
    rest = []
  }

  private static func withoutCarriageReturn(
    _ line: UnsafeRawBufferPointer
  ) -> UnsafeRawBufferPointer {
    guard line.last == 0x0D else { return line }
    return UnsafeRawBufferPointer(rebasing: line.dropLast())
  }
}
