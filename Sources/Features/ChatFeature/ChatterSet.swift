package import LiveEvents

/// The people who wrote, in order to count them exactly.
///
/// Identifiers of up to 15 bytes, which is most of them, are kept in the 16 bytes of an integer;
/// longer ones own their text. Grows with the number of people: 22 to 44 bytes for each.
package struct ChatterSet: Sendable {
  private var short = KeyTable()
  private var long: Set<Text> = []

  package init() {}

  package var count: Int { short.count + long.count }

  /// Adds a person. O(1) on average; copies nothing for one who is known.
  package mutating func insert(_ userID: Text) {
    if let key = userID.withUTF8(Self.pack) {
      short.insert(key)
    } else if !long.contains(userID) {
      long.insert(userID.owned())
    }
  }

  /// The bytes and, in the last place, their number, so that no two texts share a key and none has
  /// the key zero.
  private static func pack(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt128? {
    guard bytes.count < 16 else { return nil }
    var key: UInt128 = 0
    withUnsafeMutableBytes(of: &key) { target in
      target.copyMemory(from: UnsafeRawBufferPointer(bytes))
      target[15] = UInt8(bytes.count + 1)
    }
    return key
  }
}

extension ChatterSet: Equatable {
  package static func == (left: ChatterSet, right: ChatterSet) -> Bool {
    left.long == right.long && left.short == right.short
  }
}

/// A set of integers other than zero.
///
/// Open addressing with linear probing. `Set` would do, at four times the cost per message: it
/// hashes for any use, this only has to tell people apart.
struct KeyTable: Sendable {
  /// Zero is an empty slot. A power of two of them, at most three quarters in use.
  private var slots: ContiguousArray<UInt128> = ContiguousArray(repeating: 0, count: 64)
  private(set) var count = 0
  /// Differs from process to process, so that nobody can choose keys that collide. Only the layout
  /// depends on it, which is never seen.
  private let seed = UInt64(truncatingIfNeeded: Hasher().finalize())

  mutating func insert(_ key: UInt128) {
    let slot = slot(of: key)
    guard slots[slot] == 0 else { return }
    slots[slot] = key
    count += 1
    if count > slots.count / 4 * 3 { grow() }
  }

  func contains(_ key: UInt128) -> Bool { slots[slot(of: key)] == key }

  /// Where the key is, or the empty slot where it belongs.
  private func slot(of key: UInt128) -> Int {
    let mask = slots.count - 1
    let low = UInt64(truncatingIfNeeded: key) ^ seed
    let high = UInt64(truncatingIfNeeded: key >> 64) ^ 0x9E37_79B9_7F4A_7C15
    let product = low.multipliedFullWidth(by: high)
    var slot = Int(truncatingIfNeeded: product.high ^ product.low) & mask
    while slots[slot] != 0, slots[slot] != key { slot = (slot + 1) & mask }
    return slot
  }

  private mutating func grow() {
    let old = slots
    slots = ContiguousArray(repeating: 0, count: old.count * 2)
    for key in old where key != 0 { slots[slot(of: key)] = key }
  }
}

extension KeyTable: Equatable {
  static func == (left: KeyTable, right: KeyTable) -> Bool {
    left.count == right.count && left.slots.allSatisfy { $0 == 0 || right.contains($0) }
  }
}
