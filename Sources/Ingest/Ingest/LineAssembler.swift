import LiveEvents
import WireFormats

/// Assembles the bytes of a connection into slabs of whole lines. Needs no channel.
///
/// Buffers at most one incomplete line. Skips lines that exceed the maximum length instead of
/// buffering them.
///
/// Copies the bytes into each slab. This is the only copy between the socket and the decoded
/// events. The copy is needed because an incomplete line must be joined with its rest, and slabs
/// are immutable and padded.
struct LineAssembler {
  /// The maximum length of a line and the CR that may end it.
  private static let maximumRest = LineDecoder.maximumLineLength + 1

  private var rest: [UInt8] = []
  private var isSkipping = false

  /// Adds bytes that were read, and returns a slab of whole lines if at least one line ended. Sets
  /// `isTooLong` once for each line that exceeds the maximum length. Takes O(`bytes.count`),
  /// amortised.
  mutating func receive(
    _ bytes: UnsafeRawBufferPointer, isTooLong: inout Bool
  ) -> ByteSlab? {
    var bytes = bytes
    if isSkipping {
      guard let end = bytes.firstIndex(of: 0x0A) else { return nil }
      isSkipping = false
      bytes = UnsafeRawBufferPointer(rebasing: bytes[(end + 1)...])
    }
    guard let lastEnd = bytes.lastIndex(of: 0x0A) else {
      appendPart(bytes, &isTooLong)
      return nil
    }
    let slab = ByteSlab(capacity: rest.count + lastEnd + 1) { target in
      let target = UnsafeMutableRawBufferPointer(target)
      rest.withUnsafeBytes { target.copyMemory(from: $0) }
      UnsafeMutableRawBufferPointer(rebasing: target[rest.count...])
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[...lastEnd]))
      return target.count
    }
    rest.removeAll(keepingCapacity: rest.capacity <= 4096)
    appendPart(UnsafeRawBufferPointer(rebasing: bytes[(lastEnd + 1)...]), &isTooLong)
    return slab
  }

  /// Removes and returns the incomplete line of a sender that disconnected, if there is one.
  mutating func removeRest() -> ByteSlab? {
    defer { rest = [] }
    return rest.isEmpty ? nil : ByteSlab(rest)
  }

  private mutating func appendPart(_ bytes: UnsafeRawBufferPointer, _ isTooLong: inout Bool) {
    guard rest.count + bytes.count <= Self.maximumRest else {
      isTooLong = true
      isSkipping = true
      rest = []
      return
    }
    rest.append(contentsOf: bytes)
  }
}
