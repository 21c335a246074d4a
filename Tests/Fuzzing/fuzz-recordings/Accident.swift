/// Damage to segments on a disk, chosen by the first bytes of an input.
struct Accident {
  /// The number of bytes that choose the accident.
  static let size = 5

  private enum Kind: CaseIterable {
    /// The program ended and no data is lost.
    case none
    /// The end of a segment is lost, starting at any byte or after a line.
    case cut, cutBehindLine
    /// The end was not written, but the file has its final size, so the end is zeros.
    case zeroTail
    /// The end has blocks of another segment.
    case oldTail
    /// A part in the middle was not written.
    case hole
    /// A part in the middle is removed or repeated.
    case gap, repetition
    /// A bit flips.
    case flip
    /// A file is missing.
    case loss
    /// The names of two files are swapped.
    case swap
  }

  private let kind: Kind
  private let segment: Int
  /// The position in the segment, as a fraction of 65,536.
  private let place: Int
  private let length: Int

  /// - Parameter bytes: up to ``size`` bytes. Missing bytes count as zero.
  init(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) {
    let values = bytes.map { Int($0) } + Array(repeating: 0, count: Self.size - bytes.count)
    kind = Kind.allCases[values[0] % Kind.allCases.count]
    (segment, place, length) = (values[1], values[2] << 8 | values[3], values[4])
  }

  /// Returns the segments after the accident, with nil for a missing file.
  func befalling(_ segments: [[UInt8]]) -> [[UInt8]?] {
    guard let last = segments.indices.last else { return [] }
    // Half of the accidents affect the newest segment.
    let index = min(segment % (2 * segments.count), last)
    let other = (index + 1) % segments.count
    var found: [[UInt8]?] = segments
    switch kind {
    case .loss: found[index] = nil
    case .swap: found.swapAt(index, other)
    default: found[index] = befalling(segments[index], other: segments[other])
    }
    return found
  }

  private func befalling(_ bytes: [UInt8], other: [UInt8]) -> [UInt8] {
    let place = place * (bytes.count + 1) >> 16
    let rest = bytes[place...]
    let part = rest.prefix(1 + length * 4)
    let zeros = Array(repeating: UInt8(0), count: 1 + length * 4)
    switch kind {
    case .none, .loss, .swap: return bytes
    case .cut: return Array(bytes[..<place])
    case .cutBehindLine:
      let end = rest.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 }
      return Array(bytes[..<(end ?? place)])
    case .zeroTail: return bytes[..<place] + zeros
    case .oldTail: return Array(bytes[..<place] + (other.count > place ? other[place...] : rest))
    case .hole:
      return Array(bytes[..<place] + zeros.prefix(part.count) + rest.dropFirst(part.count))
    case .gap: return Array(bytes[..<place] + rest.dropFirst(part.count))
    case .repetition: return Array(bytes[..<place] + part + rest)
    case .flip:
      var bytes = bytes
      if place < bytes.count { bytes[place] ^= 1 << (length % 8) }
      return bytes
    }
  }
}
