import LiveEvents
import WireFormats

/// Cuts what is read into slabs that end with a line's end.
///
/// Holds the beginning of one line at most; of a line that is too long it holds nothing, but
/// passes over it. A value without channel.
struct LineAssembler {
  /// The longest line and the CR that may end it.
  private static let maximumRest = LineDecoder.maximumLineLength + 1

  private var rest: [UInt8] = []
  private var isSkipping = false

  /// Takes bytes as they were read.
  ///
  /// Returns a slab of whole lines, if one ended; sets `isTooLong` if a line got too long, once per
  /// line. Complexity: O(`bytes.count`), amortised.
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
      keep(bytes, &isTooLong)
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
    keep(UnsafeRawBufferPointer(rebasing: bytes[(lastEnd + 1)...]), &isTooLong)
    return slab
  }

  /// Takes what is left of a line whose sender went away; `nil` if nothing is.
  mutating func takeRest() -> ByteSlab? {
    defer { rest = [] }
    return rest.isEmpty ? nil : ByteSlab(rest)
  }

  private mutating func keep(_ bytes: UnsafeRawBufferPointer, _ isTooLong: inout Bool) {
    guard rest.count + bytes.count <= Self.maximumRest else {
      isTooLong = true
      isSkipping = true
      rest = []
      return
    }
    rest.append(contentsOf: bytes)
  }
}
