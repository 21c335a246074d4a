import Foundation
package import LiveEvents

/// The people who have written messages, and the number of messages of each. Exact for up to
/// ``capacity`` people.
///
/// A key has 16 bytes. It contains either the whole identifier, since most have at most 15 bytes,
/// or a fingerprint of 120 bits of a longer identifier. A person takes 32 to 64 bytes.
package struct ChatterSet: Sendable {
  /// The maximum number of people that are distinguished. Identifiers are untrusted, so memory must
  /// be limited.
  package static let capacity = 98_304
  package static var byteLimit: Int { KeyTable.bytes(for: capacity) }

  private var people = KeyTable()
  /// The people who wrote the most messages, busiest first. Among people with equal counts, the
  /// first to reach the count is first.
  package private(set) var top: [TopChatter] = []
  /// Whether people beyond ``capacity`` were omitted.
  package private(set) var isFull = false

  package init() {}

  package var count: Int { people.count }

  /// Returns the number of messages from a person; 0 if the person is not counted. Takes O(1).
  package func messages(of userID: Text) -> Int {
    people.occurrences(of: userID.withUTF8(Self.key))
  }

  /// Counts a message for the author of each element, except for people beyond ``capacity``. Takes
  /// O(1) on average per message. Copies nothing for known people who are not among the busiest.
  package mutating func count(authorsOf batch: [TimedMessage]) {
    let most = min(batch.count, Self.countedAtOnce)
    withUnsafeTemporaryAllocation(of: UInt128.self, capacity: most) { keys in
      withUnsafeTemporaryAllocation(of: Int.self, capacity: most) { times in
        for start in stride(from: 0, to: batch.count, by: Self.countedAtOnce) {
          let part = start..<min(start + Self.countedAtOnce, batch.count)
          // All keys are computed before any is counted, and without copying the messages. Without
          // reference counting, no step depends on the previous step, so the processor can fetch
          // several texts concurrently.
          batch[part].withUnsafeBufferPointer { batch in
            guard let first = batch.baseAddress else { return }
            for index in batch.indices {
              let message = (first + index).pointer(to: \.message).unsafelyUnwrapped
              keys.initializeElement(at: index, to: ChatMessage.withUserID(at: message, Self.key))
            }
          }
          people.count(
            UnsafeBufferPointer(rebasing: keys[..<part.count]), into: times, limit: Self.capacity)
          for index in part {
            let messages = times[index - start]
            if messages == 0 {
              isFull = true
            } else if top.count < TopChatter.limit || messages > top[top.count - 1].messages {
              rank(batch[index].message.userID, batch[index].message.userName, messages)
            }
          }
        }
      }
    }
  }

  private static let countedAtOnce = 64

  /// Updates the rank of a person after a message.
  private mutating func rank(_ userID: Text, _ name: Text, _ messages: Int) {
    var entry: TopChatter
    if let index = top.firstIndex(where: { $0.userID == userID }) {
      entry = top.remove(at: index)
      entry.messages = messages
    } else {
      entry = TopChatter(userID: userID.owned(), name: name.owned(), messages: messages)
      if top.count == TopChatter.limit { top.removeLast() }
    }
    let index = top.firstIndex { $0.messages < messages } ?? top.count
    top.insert(entry, at: index)
  }

  /// Returns the key of an identifier. For an identifier of at most 15 bytes, the key consists of
  /// these bytes, and its last byte is their count plus one, so that keys are unique and never
  /// zero. For a longer identifier, the key is the FNV-1a hash, whose last byte is replaced by a
  /// value that no short identifier has.
  static func key(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt128 {
    var key: UInt128 = 0
    guard bytes.count >= 16 else {
      withUnsafeMutableBytes(of: &key) { target in
        target.copyMemory(from: UnsafeRawBufferPointer(bytes))
        target[15] = UInt8(bytes.count + 1)
      }
      return key
    }
    key = 0x6C62_272E_07BB_0142_62B8_2175_6295_C58D
    for byte in bytes { key = (key ^ UInt128(byte)) &* 0x0000_0000_0100_0000_0000_0000_0000_013B }
    withUnsafeMutableBytes(of: &key) { $0[15] = 0xFF }
    return key
  }
}

extension ChatterSet: Equatable {
  package static func == (left: ChatterSet, right: ChatterSet) -> Bool {
    left.people == right.people && left.top == right.top && left.isFull == right.isFull
  }
}

extension ChatterSet: Codable {
  private enum CodingKeys: String, CodingKey { case short, long, top, isFull }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    people = try values.decode(KeyTable.self, forKey: .short)
    top = try values.decode([TopChatter].self, forKey: .top)
    isFull = try values.decodeIfPresent(Bool.self, forKey: .isFull) ?? false
    // Versions up to 0.1.0 had no capacity, and stored longer identifiers unchanged.
    if people.count > Self.capacity {
      people.removeAllButBusiest(Self.capacity)
      isFull = true
    }
    for (userID, messages) in try values.decodeIfPresent([Text: Int].self, forKey: .long) ?? [:] {
      if people.count < Self.capacity {
        let messages = min(max(1, messages), EventLimits.total.upperBound)
        people.set(messages, for: userID.withUTF8(Self.key))
      } else {
        isFull = true
      }
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(people, forKey: .short)
    try values.encode(top, forKey: .top)
    if isFull { try values.encode(isFull, forKey: .isFull) }
  }
}

/// A person and the number of their messages.
package struct TopChatter: Equatable, Sendable, Codable {
  /// The maximum number of ranked people.
  package static let limit = 5

  package let userID: Text
  package let name: Text
  package internal(set) var messages: Int
}

/// Counts non-zero integers.
///
/// Uses open addressing with linear probing. A `Dictionary` would cost four times as much per
/// message, because its hash must suit any key, while this table's hash only has to distinguish
/// people.
struct KeyTable: Sendable {
  /// The keys, with zero for an empty slot. The number of slots is a power of two, of which at most
  /// three quarters are used.
  private var slots: ContiguousArray<UInt128> = ContiguousArray(repeating: 0, count: 64)
  /// The counts, at the same indices as their keys.
  private var counts: ContiguousArray<Int> = ContiguousArray(repeating: 0, count: 64)
  private(set) var count = 0
  /// A seed that differs between processes, so that an attacker cannot choose colliding keys. Only
  /// the memory layout depends on the seed.
  private let seed = UInt64(truncatingIfNeeded: Hasher().finalize())

  /// Counts a key. Returns the new count, or `nil` for a new key if there are already `limit` keys.
  mutating func count(_ key: UInt128, limit: Int = .max) -> Int? {
    let slot = slot(of: key)
    if slots[slot] == 0 {
      guard count < limit else { return nil }
      add(key, at: slot)
      return 1
    }
    counts[slot] += 1
    return counts[slot]
  }

  /// Counts keys, none of which may be zero. Stores the new count of each in `times`, or zero for a
  /// new key if there are already `limit` keys. All keys are searched before any is counted, so
  /// that the processor can fetch several slots concurrently.
  mutating func count(
    _ keys: UnsafeBufferPointer<UInt128>, into times: UnsafeMutableBufferPointer<Int>, limit: Int
  ) {
    for index in keys.indices { times.initializeElement(at: index, to: slot(of: keys[index])) }
    for index in keys.indices {
      let slot = times[index]
      // The slot is wrong if the key is new, or the table has grown since the search.
      if slots[slot] == keys[index] {
        counts[slot] += 1
        times[index] = counts[slot]
      } else {
        times[index] = count(keys[index], limit: limit) ?? 0
      }
    }
  }

  mutating func set(_ times: Int, for key: UInt128) {
    let slot = slot(of: key)
    if slots[slot] == 0 { add(key, at: slot) }
    counts[self.slot(of: key)] = times
  }

  /// Decrements the count of a key. Returns the new count, or `nil` if the key was not counted.
  mutating func uncount(_ key: UInt128) -> Int? {
    let slot = slot(of: key)
    guard slots[slot] != 0 else { return nil }
    counts[slot] -= 1
    let rest = counts[slot]
    if rest == 0 { remove(at: slot) }
    return rest
  }

  /// Removes a key. Returns the previous count, or `nil` if the key was not counted.
  mutating func remove(_ key: UInt128) -> Int? {
    let slot = slot(of: key)
    guard slots[slot] != 0 else { return nil }
    let times = counts[slot]
    remove(at: slot)
    return times
  }

  /// Adds the counts of another table.
  mutating func add(_ other: KeyTable) {
    for (slot, key) in other.slots.enumerated() where key != 0 {
      set(occurrences(of: key) + other.counts[slot], for: key)
    }
  }

  /// Empties a slot. Moves later keys of the same probe sequence forward, so that searches still
  /// find them.
  private mutating func remove(at slot: Int) {
    let mask = slots.count - 1
    var (gap, next) = (slot, (slot + 1) & mask)
    while slots[next] != 0 {
      let (home, distance) = (homeSlot(of: slots[next]), (next &- gap) & mask)
      if (next &- home) & mask >= distance {
        (slots[gap], counts[gap]) = (slots[next], counts[next])
        gap = next
      }
      next = (next + 1) & mask
    }
    (slots[gap], counts[gap]) = (0, 0)
    count -= 1
  }

  /// Keeps the `limit` keys with the highest counts. Takes O(*n* log *n*).
  mutating func removeAllButBusiest(_ limit: Int) {
    let all = zip(counts, slots).filter { $0.1 != 0 }.sorted { $0 > $1 }
    self = KeyTable()
    for (times, key) in all.prefix(limit) { set(times, for: key) }
  }

  private mutating func add(_ key: UInt128, at slot: Int) {
    slots[slot] = key
    counts[slot] = 1
    count += 1
    if count > slots.count / 4 * 3 { grow() }
  }

  /// Returns the memory of a table with this many keys, in bytes.
  static func bytes(for count: Int) -> Int {
    var slots = 64
    while count > slots / 4 * 3 { slots *= 2 }
    return slots * (MemoryLayout<UInt128>.stride + MemoryLayout<Int>.stride)
  }

  func occurrences(of key: UInt128) -> Int { counts[slot(of: key)] }

  /// Returns the index of the key, or of the empty slot where it belongs.
  private func slot(of key: UInt128) -> Int {
    let mask = slots.count - 1
    var slot = homeSlot(of: key)
    while slots[slot] != 0, slots[slot] != key { slot = (slot + 1) & mask }
    return slot
  }

  /// Returns the slot at which the search for a key begins.
  private func homeSlot(of key: UInt128) -> Int {
    let low = UInt64(truncatingIfNeeded: key) ^ seed
    let high = UInt64(truncatingIfNeeded: key >> 64) ^ 0x9E37_79B9_7F4A_7C15
    let product = low.multipliedFullWidth(by: high)
    return Int(truncatingIfNeeded: product.high ^ product.low) & (slots.count - 1)
  }

  private mutating func grow() {
    let old = slots
    let oldCounts = counts
    slots = ContiguousArray(repeating: 0, count: old.count * 2)
    counts = ContiguousArray(repeating: 0, count: old.count * 2)
    for (position, key) in old.enumerated() where key != 0 {
      let slot = slot(of: key)
      slots[slot] = key
      counts[slot] = oldCounts[position]
    }
  }
}

extension KeyTable: Equatable {
  static func == (left: KeyTable, right: KeyTable) -> Bool {
    left.count == right.count
      && left.slots.indices.allSatisfy {
        left.slots[$0] == 0 || right.occurrences(of: left.slots[$0]) == left.counts[$0]
      }
  }
}

/// Encodes the used keys with their counts, 24 bytes each, independent of the memory layout.
extension KeyTable: Codable {
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let data = try container.decode(Data.self)
    // Rooms of version 0.1.0 may have more people than the capacity.
    guard data.count % Self.entrySize == 0, data.count <= 4 * ChatterSet.byteLimit else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription: "\(data.count) bytes are too many, or not a whole number of entries")
    }
    data.withUnsafeBytes { bytes in
      for start in stride(from: 0, to: bytes.count, by: Self.entrySize) {
        func load<Number: FixedWidthInteger & BitwiseCopyable>(_ offset: Int) -> Number {
          Number(littleEndian: bytes.loadUnaligned(fromByteOffset: start + offset, as: Number.self))
        }
        let key: UInt128 = load(0)
        let times: Int64 = load(16)
        guard key != 0, times > 0 else { continue }
        // The counts may come from a manipulated file. Later additions must not overflow.
        set(min(Int(times), EventLimits.total.upperBound), for: key)
      }
    }
  }

  func encode(to encoder: any Encoder) throws {
    var data = Data(capacity: count * Self.entrySize)
    for (position, key) in slots.enumerated() where key != 0 {
      withUnsafeBytes(of: key.littleEndian) { data.append(contentsOf: $0) }
      withUnsafeBytes(of: Int64(counts[position]).littleEndian) { data.append(contentsOf: $0) }
    }
    var container = encoder.singleValueContainer()
    try container.encode(data)
  }

  private static let entrySize = 24
}

extension ChatterSet: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try check(top, atMost: TopChatter.limit, "top")
  }
}

extension TopChatter: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(names: userID, name, in: "name")
    try require(countable: messages, in: "messages")
  }
}
