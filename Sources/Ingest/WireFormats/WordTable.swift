/// Finds a name in a fixed set with one multiplication and two comparisons.
///
/// Each name is identified by its length and its eight-byte words: the first, the last and, for
/// names longer than 16 bytes, the two in between. The initialiser searches for a multiplier that
/// causes no collisions. A table is never freed.
struct WordTable: Sendable {
  /// The length in bytes of the longest name that four words identify exactly.
  static let longestName = 32

  private struct Name {
    var first: UInt64 = 0
    var last: UInt64 = 0
    var second: UInt64 = 0
    var third: UInt64 = 0
    var count = 0
  }

  /// The maximum number of names in a table. The initialiser finds a collision-free multiplier for
  /// 128 names within some thousand attempts.
  static let limit = 128

  private static let bits = 10

  // For each hash, the index of the name with that hash plus one, or 0 if there is none. The
  // indices are single bytes, so that the table stays in the first-level cache. Reading from any
  // thread is safe: only `init` writes to this memory, which is never freed.
  nonisolated(unsafe) private let slots: UnsafePointer<UInt8>
  nonisolated(unsafe) private let names: UnsafePointer<Name>
  private let multiplier: UInt64

  /// Creates a table in which the name at position `n` has the value `n`. At most ``limit`` names
  /// are allowed. Names must differ and have 1 to ``longestName`` bytes each.
  init(_ spellings: [String]) {
    precondition(spellings.count <= Self.limit, "a word table has at most \(Self.limit) names")
    let slots = UnsafeMutablePointer<UInt8>.allocate(capacity: 1 << Self.bits)
    let names = UnsafeMutablePointer<Name>.allocate(capacity: spellings.count)
    for (index, spelling) in spellings.enumerated() {
      (names + index).initialize(to: Self.name(spelling))
    }
    var multiplier: UInt64 = 0x9E37_79B9_7F4A_7C15
    var fits = false
    while !fits {
      multiplier = multiplier &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      slots.initialize(repeating: 0, count: 1 << Self.bits)
      fits = (0..<spellings.count).allSatisfy { index in
        let slot = Self.slot(names[index].first, names[index].last, names[index].count, multiplier)
        guard slots[slot] == 0 else { return false }
        slots[slot] = UInt8(index + 1)
        return true
      }
    }
    self.slots = UnsafePointer(slots)
    self.names = UnsafePointer(names)
    self.multiplier = multiplier
  }

  /// Returns the value of the name in the first `count` bytes, or `nil` if the table does not
  /// contain it. At least eight bytes must be readable at `bytes`, even if `count` is smaller.
  /// Takes O(1).
  @inline(__always)
  func value(of bytes: UnsafePointer<UInt8>, count: Int) -> Int? {
    guard count > 0, count <= Self.longestName else { return nil }
    var first = Self.word(bytes)
    var last = first
    if count >= 8 {
      last = Self.word(bytes + (count &- 8))
    } else {
      first &= (1 &<< UInt64(truncatingIfNeeded: count &* 8)) &- 1
      last = first
    }
    let found = slots[Self.slot(first, last, count, multiplier)]
    guard found != 0 else { return nil }
    let index = Int(found) &- 1
    let name = names + index
    guard name.pointee.first == first, name.pointee.last == last, name.pointee.count == count
    else { return nil }
    if count > 16 {
      guard name.pointee.second == Self.word(bytes + 8),
        name.pointee.third == Self.word(bytes + (count &- 16))
      else { return nil }
    }
    return index
  }

  @inline(__always)
  private static func slot(_ first: UInt64, _ last: UInt64, _ count: Int, _ multiplier: UInt64)
    -> Int
  {
    let mixed =
      (first &+ (last &<< 7 | last &>> 57) &+ UInt64(truncatingIfNeeded: count))
      &* multiplier
    return Int(truncatingIfNeeded: mixed &>> UInt64(64 - bits))
  }

  @inline(__always)
  private static func word(_ bytes: UnsafePointer<UInt8>) -> UInt64 {
    UInt64(littleEndian: UnsafeRawPointer(bytes).loadUnaligned(as: UInt64.self))
  }

  private static func name(_ spelling: String) -> Name {
    let count = spelling.utf8.count
    precondition((1...longestName).contains(count), "a name has 1 to \(longestName) bytes")
    return (Array(spelling.utf8) + [UInt8](repeating: 0, count: 8)).withUnsafeBufferPointer {
      let start = $0.baseAddress.unsafelyUnwrapped
      var name = Name(count: count)
      name.first = word(start)
      name.last = count >= 8 ? word(start + (count - 8)) : name.first
      if count > 16 {
        name.second = word(start + 8)
        name.third = word(start + (count - 16))
      }
      return name
    }
  }
}
