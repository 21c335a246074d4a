import LiveEvents
package import RateLimiting

/// The hashes of a room's newest identifiers: at most ``capacity`` of them, none older than
/// ``lifetime`` by the room's time, which never goes back.
///
/// A ring buffer holds the hashes in order of arrival, and a hash table holds positions in the
/// ring. Identifiers are compared by 64-bit hashes. With a full ring, one message in 10^15 is
/// mistaken for another one.
package struct RecentIdentifiers: Sendable, Equatable {
  package static let capacity = 4_096
  package static let lifetime = Interval.seconds(15 * 60)
  /// The maximum memory, in bytes.
  package static let memory = capacity * (MemoryLayout<Entry>.stride + 4 * 2)

  private struct Entry: Sendable, Equatable {
    var hash: UInt64 = 0
    var milliseconds: Int64 = 0
  }

  /// The ring buffer, whose size is a power of two, and small in a room with few messages.
  private var ring: [Entry] = []
  private var first = 0
  package private(set) var count = 0
  /// An open-addressing hash table of positions in the ring, plus one, at four times the ring's
  /// size; 0 marks a free slot.
  ///
  /// Expired identifiers stay in the table until it is rebuilt, although their positions in the
  /// ring may contain other hashes by then. Removing each of them would take more time than all
  /// other operations.
  private var table: [UInt16] = []
  /// The number of occupied slots in the table.
  private var placed = 0
  /// A seed that differs between processes, so that an attacker cannot choose identifiers that
  /// collide in the table.
  private let seed = UInt64(truncatingIfNeeded: Hasher().finalize())

  package init() {}

  package static func == (left: Self, right: Self) -> Bool {
    left.entries.elementsEqual(right.entries)
  }

  private var entries: some Sequence<Entry> {
    (0..<count).lazy.map { ring[(first + $0) & (ring.count - 1)] }
  }

  /// Records an identifier in O(1), amortised; returns `false` if it is known already.
  package mutating func insert(_ hash: UInt64, at now: Instant) -> Bool {
    let milliseconds = now.nanoseconds / 1_000_000
    let oldest = milliseconds - Self.lifetime.nanoseconds / 1_000_000
    while count > 0, ring[first].milliseconds < oldest { removeFirst() }
    guard let slot = freeSlot(for: hash) else { return false }
    append(Entry(hash: hash, milliseconds: milliseconds), at: slot)
    return true
  }

  /// Returns the free slot of the table for a hash; `nil` if the hash is known already.
  private func freeSlot(for hash: UInt64) -> Int? {
    guard !table.isEmpty else { return 0 }
    var slot = home(of: hash)
    while table[slot] != 0 {
      let position = Int(table[slot]) - 1
      if ring[position].hash == hash, isRemembered(position) { return nil }
      slot = (slot + 1) & (table.count - 1)
    }
    return slot
  }

  private func isRemembered(_ position: Int) -> Bool {
    (position - first) & (ring.count - 1) < count
  }

  private mutating func append(_ entry: Entry, at slot: Int) {
    if count == Self.capacity {
      removeFirst()
    } else if count == ring.count {
      grow()
    }
    let position = (first + count) & (ring.count - 1)
    ring[position] = entry
    count += 1
    guard placed < table.count / 4 * 3 else { return placeAll() }
    table[slot] = UInt16(position + 1)
    placed += 1
  }

  /// Enlarges the ring and discards the table.
  private mutating func grow() {
    let old = Array(entries)
    ring = old + [Entry](repeating: Entry(), count: max(64, old.count))
    first = 0
    (table, placed) = ([], 0)
  }

  /// Rebuilds the table without expired identifiers, in O(*n*), once for each 2 *n* new
  /// identifiers.
  private mutating func placeAll() {
    table = [UInt16](repeating: 0, count: 4 * ring.count)
    placed = 0
    for offset in 0..<count {
      let position = (first + offset) & (ring.count - 1)
      var slot = home(of: ring[position].hash)
      while table[slot] != 0 { slot = (slot + 1) & (table.count - 1) }
      table[slot] = UInt16(position + 1)
      placed += 1
    }
  }

  private func home(of hash: UInt64) -> Int {
    Int(truncatingIfNeeded: ((hash ^ seed) &* 0x9E37_79B9_7F4A_7C15) >> 40) & (table.count - 1)
  }

  private mutating func removeFirst() {
    first = (first + 1) & (ring.count - 1)
    count -= 1
  }
}

/// Identifiers are saved as one text, because there are thousands. Each identifier takes 16
/// hexadecimal digits for its hash and 6 for the milliseconds since the previous one.
extension RecentIdentifiers: Codable {
  /// The maximum length of the text, in bytes.
  static let textLength = capacity * (hashDigits + gapDigits)
  private static let hashDigits = 16
  private static let gapDigits = 6
  /// The largest gap that 6 digits can express, which exceeds every real gap of at most 15 minutes.
  private static let longestGap: Int64 = 0xFF_FFFF

  private enum CodingKeys: String, CodingKey {
    case since, hashes
  }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    var milliseconds = try values.decode(Int64.self, forKey: .since)
    let text = try values.decode(String.self, forKey: .hashes).utf8
    guard milliseconds.isCountable, text.count <= Self.textLength else {
      throw DecodingError.dataCorruptedError(
        forKey: .hashes, in: values,
        debugDescription: "an impossible time, or more than \(Self.capacity) identifiers")
    }
    var rest = text[...]
    while rest.count >= Self.hashDigits + Self.gapDigits {
      let hash = Self.number(rest.prefix(Self.hashDigits))
      rest = rest.dropFirst(Self.hashDigits)
      let gap = Self.number(rest.prefix(Self.gapDigits))
      rest = rest.dropFirst(Self.gapDigits)
      milliseconds += Int64(gap)
      if let slot = freeSlot(for: hash) {
        append(Entry(hash: hash, milliseconds: milliseconds), at: slot)
      }
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    let since = count > 0 ? ring[first].milliseconds : 0
    var last = since
    var text: [UInt8] = []
    text.reserveCapacity(count * (Self.hashDigits + Self.gapDigits))
    for entry in entries {
      Self.append(entry.hash, Self.hashDigits, to: &text)
      let gap = min(max(0, entry.milliseconds - last), Self.longestGap)
      Self.append(UInt64(gap), Self.gapDigits, to: &text)
      last = entry.milliseconds
    }
    try values.encode(since, forKey: .since)
    try values.encode(String(decoding: text, as: UTF8.self), forKey: .hashes)
  }

  private static func append(_ number: UInt64, _ digits: Int, to text: inout [UInt8]) {
    for digit in (0..<digits).reversed() {
      let value = UInt8(truncatingIfNeeded: number >> UInt64(4 * digit)) & 0xF
      text.append(value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10)
    }
  }

  /// A character that is not a digit counts as 0, because this program does not write such a text.
  private static func number(_ digits: Substring.UTF8View) -> UInt64 {
    digits.reduce(0) { number, digit in
      let value: UInt8 =
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: 0
        }
      return number << 4 | UInt64(value)
    }
  }
}
