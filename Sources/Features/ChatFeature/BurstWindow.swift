import Analysis
import Foundation
import LiveEvents

/// The newest messages passed to the analysis, numbered from 0, with their authors and bursts of
/// duplicates. A message in the window can join a burst, and leaves the burst if it is deleted.
struct BurstWindow: Equatable, Sendable {
  /// The capacity, which always includes the analysed batch and the waiting messages.
  static let capacity = 2 * ChatFindings.batchLimit
  static let memory = capacity * 52
  /// The value that marks deleted messages in place of a burst number.
  private static let hidden: Int32 = -1

  /// The number of the next message.
  private(set) var end = 0
  // The arrays contain a message's values at the message's number modulo the capacity.
  private var ids: [UInt64] = []
  private var people: [UInt128] = []
  private var ordinals: [Int] = []
  private var times: [Timestamp] = []
  private var bursts: [Int32] = []

  /// A message that joins or leaves a burst of duplicates.
  struct Entry: Equatable {
    let person: UInt128
    let time: Timestamp
    let burst: Int
  }

  mutating func append(_ message: ChatMessage, ordinal: Int, at time: Timestamp) {
    let id = Self.key(of: message.id)
    let person = message.userID.withUTF8(ChatterSet.key)
    if end < Self.capacity {
      ids.append(id)
      people.append(person)
      ordinals.append(ordinal)
      times.append(time)
      bursts.append(0)
    } else {
      let slot = end % Self.capacity
      (ids[slot], people[slot], ordinals[slot]) = (id, person, ordinal)
      (times[slot], bursts[slot]) = (time, 0)
    }
    end += 1
  }

  private static func key(of id: Text) -> UInt64 { id.withUTF8 { TextHash.of($0) } }

  private func contains(_ message: Int) -> Bool {
    message >= max(0, end - Self.capacity) && message < end
  }

  /// Returns the ordinal of a message in the room, or `nil` if the message has left the window.
  func ordinal(of message: Int) -> Int? {
    contains(message) ? ordinals[message % Self.capacity] : nil
  }

  func isInBurst(_ message: Int) -> Bool {
    contains(message) && bursts[message % Self.capacity] > 0
  }

  /// Adds a message to a burst of duplicates. Returns `nil` if the message has left the window, was
  /// deleted, or already belongs to a burst.
  mutating func assign(_ message: Int, to burst: Int) -> Entry? {
    let slot = message % Self.capacity
    guard contains(message), bursts[slot] == 0 else { return nil }
    bursts[slot] = Int32(clamping: burst)
    return Entry(person: people[slot], time: times[slot], burst: burst)
  }

  /// Moves all messages of a burst of duplicates to another burst. If `other` is 0, they then
  /// belong to no burst.
  mutating func move(_ burst: Int, to other: Int) {
    for slot in bursts.indices where bursts[slot] == Int32(clamping: burst) {
      bursts[slot] = Int32(clamping: other)
    }
  }

  /// Marks messages as deleted. Returns the messages that leave a burst of duplicates. Takes
  /// O(``capacity``), some ten microseconds.
  mutating func hide(_ target: ModerationTarget) -> [Entry] {
    var left: [Entry] = []
    switch target {
    case .everything:
      for slot in bursts.indices { hide(slot, &left) }
    case .message(let id):
      let key = Self.key(of: id)
      for slot in ids.indices where ids[slot] == key { hide(slot, &left) }
    case .author(let id):
      let key = id.withUTF8(ChatterSet.key)
      for slot in people.indices where people[slot] == key { hide(slot, &left) }
    case .ordinals: break
    }
    return left
  }

  private mutating func hide(_ slot: Int, _ left: inout [Entry]) {
    if bursts[slot] > 0 {
      left.append(Entry(person: people[slot], time: times[slot], burst: Int(bursts[slot])))
    }
    bursts[slot] = Self.hidden
  }
}

/// Encodes the window as blocks of bytes.
extension BurstWindow: Codable {
  private enum CodingKeys: String, CodingKey {
    case end, ids, people, ordinals, times, bursts = "waves"
  }

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    func block<Number: FixedWidthInteger & BitwiseCopyable>(_ key: CodingKeys) throws -> [Number] {
      Array(packed: try values.decode(Data.self, forKey: key))
    }
    end = try values.decode(Int.self, forKey: .end)
    ids = try block(.ids)
    people = try block(.people)
    ordinals = try block(.ordinals)
    times = try block(.times)
    bursts = try block(.bursts)
    let sizes = [people.count, ordinals.count, times.count, bursts.count]
    guard (0...EventLimits.total.upperBound).contains(end), ids.count == min(end, Self.capacity),
      sizes.allSatisfy({ $0 == ids.count }),
      // Later additions to these numbers must not overflow.
      ordinals.allSatisfy({ $0.magnitude < 1 << 60 }), times.allSatisfy({ $0.magnitude < 1 << 60 })
    else {
      throw DecodingError.dataCorruptedError(
        forKey: .end, in: values, debugDescription: "not \(min(end, Self.capacity)) messages")
    }
  }

  func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(end, forKey: .end)
    try values.encode(ids.packed, forKey: .ids)
    try values.encode(people.packed, forKey: .people)
    try values.encode(ordinals.packed, forKey: .ordinals)
    try values.encode(times.packed, forKey: .times)
    try values.encode(bursts.packed, forKey: .bursts)
  }
}
