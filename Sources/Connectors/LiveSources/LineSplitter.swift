/// Splits bytes into lines. Buffers at most one incomplete line, which is passed on only after its
/// line ending has arrived.
package struct LineSplitter: Sendable {
  private let maximumLength: Int
  private var rest: [UInt8] = []
  private var isSkipping = false
  /// The number of lines skipped because they exceeded the maximum length.
  package private(set) var tooLong = 0

  /// - Parameter maximumLength: The maximum length of a line in bytes, including its line ending.
  package init(maximumLength: Int) { self.maximumLength = maximumLength }

  /// Calls `body` with each completed line, without its LF or CR LF.
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
