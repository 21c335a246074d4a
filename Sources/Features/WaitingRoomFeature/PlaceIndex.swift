/// Places in a list, found by a hash of what stands there.
///
/// Open addressing with linear probing; the owner keeps the hashes by place. `Dictionary` would hash all
/// texts again each time that it grows: with tens of thousands of people that is the longest thing a
/// room ever does at once.
struct PlaceIndex: Sendable {
  /// One more than a place; 0 is empty. A power of two of them, at most three quarters in use.
  private var slots = ContiguousArray<Int32>(repeating: 0, count: 16)
  private(set) var count = 0

  /// The place with this hash for which `matches` holds; `nil` if there is none.
  func place(_ hash: UInt32, where matches: (Int) -> Bool) -> Int? {
    var slot = home(hash)
    while slots[slot] != 0 {
      let place = Int(slots[slot]) - 1
      if matches(place) { return place }
      slot = next(slot)
    }
    return nil
  }

  /// Adds a place that is not there.
  mutating func insert(_ place: Int, _ hashes: ContiguousArray<UInt32>) {
    count += 1
    if count > slots.count / 4 * 3 { grow(hashes) }
    put(Int32(place + 1), hashes[place])
  }

  /// Removes a place that is there. What was moved on past it moves back, so that no marks are left.
  mutating func remove(_ place: Int, _ hashes: ContiguousArray<UInt32>) {
    var hole = home(hashes[place])
    while Int(slots[hole]) != place + 1 { hole = next(hole) }
    count -= 1
    var slot = next(hole)
    let mask = slots.count - 1
    while slots[slot] != 0 {
      let home = home(hashes[Int(slots[slot]) - 1])
      // Whether the way from its home to here leads over the hole.
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
