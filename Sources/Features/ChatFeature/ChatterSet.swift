import Foundation
package import LiveEvents

/// The people who have written, and how often; an exact count.
///
/// Identifiers of up to 15 bytes, which most are, fit into the 16 bytes of an integer; longer ones
/// own their text. Takes 32 to 64 bytes per person.
package struct ChatterSet: Sendable, Codable {
  private var short = KeyTable()
  private var long: [Text: Int] = [:]
  /// The people who wrote the most, the busiest first. Of those who wrote equally much, the first
  /// to do so comes first.
  package private(set) var top: [TopChatter] = []

  package init() {}

  package var count: Int { short.count + long.count }

  /// Counts a message of a person.
  ///
  /// - Complexity: O(1) on average. Copies nothing if the person is known and not among the
  ///   busiest.
  package mutating func count(_ userID: Text, name: @autoclosure () -> Text) {
    let messages: Int
    if let key = userID.withUTF8(Self.pack) {
      messages = short.count(key)
    } else if let known = long[userID] {
      messages = known + 1
      long[userID] = messages
    } else {
      messages = 1
      long[userID.owned()] = 1
    }
    if top.count < TopChatter.limit || messages > top[top.count - 1].messages {
      rank(userID, name(), messages)
    }
  }

  /// Ranks a person by the number of their messages.
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

  /// The bytes, with their count in the last byte, so that no two texts share a key and no text has
  /// the key zero. `nil` for a text that is too long.
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
    left.long == right.long && left.short == right.short && left.top == right.top
  }
}

/// A person and the number of their messages.
package struct TopChatter: Equatable, Sendable, Codable {
  /// How many people are ranked.
  package static let limit = 5

  package let userID: Text
  package let name: Text
  package internal(set) var messages: Int
}

/// Counts integers other than zero.
///
/// Open addressing with linear probing. `Dictionary` would do, but at four times the cost per
/// message: its hash is good for any use, while this one only has to distinguish people.
struct KeyTable: Sendable {
  /// Zero marks an empty slot. The number of slots is a power of two; at most three quarters are
  /// used.
  private var slots: ContiguousArray<UInt128> = ContiguousArray(repeating: 0, count: 64)
  /// At the same indices as their keys.
  private var counts: ContiguousArray<Int> = ContiguousArray(repeating: 0, count: 64)
  private(set) var count = 0
  /// Differs from process to process, so that an attacker cannot choose keys that collide. Only the
  /// layout depends on it, which is not visible outside.
  private let seed = UInt64(truncatingIfNeeded: Hasher().finalize())

  /// Counts a key. Returns how often it has been counted, this time included.
  mutating func count(_ key: UInt128) -> Int {
    let slot = slot(of: key)
    counts[slot] += 1
    guard slots[slot] == 0 else { return counts[slot] }
    slots[slot] = key
    count += 1
    if count > slots.count / 4 * 3 { grow() }
    return 1
  }

  func occurrences(of key: UInt128) -> Int { counts[slot(of: key)] }

  /// The index of the key, or of the empty slot where it belongs.
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

/// Encoded as the keys in use with their counts, 24 bytes each, independently of the layout.
extension KeyTable: Codable {
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let data = try container.decode(Data.self)
    guard data.count % Self.entrySize == 0 else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription: "\(data.count) bytes are not a whole number of entries")
    }
    data.withUnsafeBytes { bytes in
      for start in stride(from: 0, to: bytes.count, by: Self.entrySize) {
        func load<Number: FixedWidthInteger & BitwiseCopyable>(_ offset: Int) -> Number {
          Number(littleEndian: bytes.loadUnaligned(fromByteOffset: start + offset, as: Number.self))
        }
        let key: UInt128 = load(0)
        let times: Int64 = load(16)
        guard key != 0, times > 0 else { continue }
        _ = count(key)
        counts[slot(of: key)] = Int(times)
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
