/// Finds positions in a list by the hashes of the elements.
///
/// Uses open addressing with linear probing. The owner stores the hashes by position. A
/// `Dictionary` would rehash all texts whenever it grows. With tens of thousands of people, that
/// would be the longest uninterrupted step of a room.
struct PositionIndex: Sendable {
  /// The positions, each plus one, or 0 in an empty slot. The number of slots is a power of two, of
  /// which at most three quarters are used.
  private var slots = ContiguousArray<Int32>(repeating: 0, count: 16)
  private(set) var count = 0

  /// Returns the position with this hash for which `matches` returns true, if there is one.
  func position(_ hash: UInt32, where matches: (Int) -> Bool) -> Int? {
    var slot = home(hash)
    while slots[slot] != 0 {
      let position = Int(slots[slot]) - 1
      if matches(position) { return position }
      slot = next(slot)
    }
    return nil
  }

  /// Adds a position that is not in the index.
  mutating func insert(_ position: Int, _ hashes: ContiguousArray<UInt32>) {
    count += 1
    if count > slots.count / 4 * 3 { grow(hashes) }
    put(Int32(position + 1), hashes[position])
  }

  /// Removes a position that is in the index. Moves later entries of the probe sequence back, so
  /// that no tombstones are needed.
  mutating func remove(_ position: Int, _ hashes: ContiguousArray<UInt32>) {
    var hole = home(hashes[position])
    while Int(slots[hole]) != position + 1 { hole = next(hole) }
    count -= 1
    var slot = next(hole)
    let mask = slots.count - 1
    while slots[slot] != 0 {
      let home = home(hashes[Int(slots[slot]) - 1])
      // Checks whether the entry's probe sequence passes the empty slot.
      if (slot - home) & mask >= (slot - hole) & mask {
        slots[hole] = slots[slot]
        hole = slot
      }
      slot = next(slot)
    }
    slots[hole] = 0
  }

  private func home(_ hash: UInt32) -> Int { Int(hash) & (slots.count - 1) }
  private func next(_ slot: Int) -> Int { (slot + 1) & (slots.count - 1) }

  private mutating func put(_ entry: Int32, _ hash: UInt32) {
    var slot = home(hash)
    while slots[slot] != 0 { slot = next(slot) }
    slots[slot] = entry
  }

  private mutating func grow(_ hashes: ContiguousArray<UInt32>) {
    let old = slots
    slots = ContiguousArray(repeating: 0, count: old.count * 2)
    for entry in old where entry != 0 { put(entry, hashes[Int(entry) - 1]) }
  }
}
