package import RateLimiting

/// The hashes of the newest identifiers of a room, at most ``capacity``, none older than
/// ``lifetime`` by the room's time, which never goes back.
///
/// A ring in the order in which they came, and a table of positions in it. Identifiers are compared
/// by 64 bits of their hash: among as many as are remembered, one message in 10^15 would be taken
/// for another one.
package struct RecentIdentifiers: Sendable, Equatable {
  package static let capacity = 4_096
  package static let lifetime = Interval.seconds(15 * 60)
  /// The most that it takes, in bytes.
  package static let memory = capacity * (MemoryLayout<Entry>.stride + 4 * 2)

  private struct Entry: Sendable, Equatable {
    var hash: UInt64 = 0
    var milliseconds: Int64 = 0
  }

  /// A power of two in size, so that a room with few messages is small.
  private var ring: [Entry] = []
  private var first = 0
  package private(set) var count = 0
  /// Positions in the ring, plus one, at four times its size; 0 where there is none. Found by
  /// probing on from the hash.
  ///
  /// Forgotten identifiers stay in it until it is rebuilt: other hashes have their places in the
  /// ring by then. To take each of them out would cost more than all else.
  private var table: [UInt16] = []
  /// How many positions are in the table.
  private var placed = 0
  /// Differs from process to process, so that an attacker cannot choose identifiers whose search
  /// begins at one place.
  private let seed = UInt64(truncatingIfNeeded: Hasher().finalize())

  package init() {}

  package static func == (left: Self, right: Self) -> Bool {
    left.entries.elementsEqual(right.entries)
  }

  private var entries: some Sequence<Entry> {
    (0..<count).lazy.map { ring[(first + $0) & (ring.count - 1)] }
  }

  /// Notes an identifier; `false` if it is remembered already.
  ///
  /// - Complexity: O(1), amortised.
  package mutating func insert(_ hash: UInt64, at now: Instant) -> Bool {
    let milliseconds = now.nanoseconds / 1_000_000
    let oldest = milliseconds - Self.lifetime.nanoseconds / 1_000_000
    while count > 0, ring[first].milliseconds < oldest { removeFirst() }
    guard let slot = freeSlot(for: hash) else { return false }
    append(Entry(hash: hash, milliseconds: milliseconds), at: slot)
    return true
  }

  /// Where the position of the hash belongs in the table; `nil` if it is remembered already.
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

  /// - Parameter slot: the ``freeSlot(for:)``.
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

  /// Makes the ring larger. Leaves it without a table.
  private mutating func grow() {
    let old = Array(entries)
    ring = old + [Entry](repeating: Entry(), count: max(64, old.count))
    first = 0
    (table, placed) = ([], 0)
  }

  /// Rebuilds the table, without what is forgotten.
  ///
  /// - Complexity: O(*n*), once for each 2 *n* new identifiers.
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

  /// Forgets the oldest.
  private mutating func removeFirst() {
    first = (first + 1) & (ring.count - 1)
    count -= 1
  }
}

/// Saved as one text, since there are thousands: for each, 16 hexadecimal digits of its hash and 6
/// of the milliseconds since the one before.
extension RecentIdentifiers: Codable {
  /// The most bytes of that text.
  static let textLength = capacity * (hashDigits + gapDigits)
  private static let hashDigits = 16
  private static let gapDigits = 6
  /// More than any gap: 15 minutes are fewer than a million milliseconds.
  private static let longestGap: Int64 = 0xFF_FFFF

  private enum CodingKeys: String, CodingKey {
    case since, hashes
  }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    var milliseconds = try values.decode(Int64.self, forKey: .since)
    let text = try values.decode(String.self, forKey: .hashes).utf8
    var rest = text[...]
    while rest.count >= Self.hashDigits + Self.gapDigits {
      let hash = Self.number(rest.prefix(Self.hashDigits))
      rest = rest.dropFirst(Self.hashDigits)
      let gap = Self.number(rest.prefix(Self.gapDigits))
      rest = rest.dropFirst(Self.gapDigits)
      milliseconds = milliseconds.addingReportingOverflow(Int64(gap)).partialValue
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

  /// What is not a digit counts as 0: it was not written by this program.
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
