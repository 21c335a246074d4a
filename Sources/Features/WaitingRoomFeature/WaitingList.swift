package import LiveEvents

/// People by identifier, in the order of their arrival. Owns their texts.
///
/// Joining, leaving, and lookup are O(1) on average. A person who leaves creates a gap, and the
/// gaps are closed when they outnumber the people. The longest single step, in which the table
/// doubles, reads no text, because hashes are stored.
package struct WaitingList: Sendable {
  /// The maximum memory of the people in bytes, which suffices for about 12,000 people with names
  /// of ordinary length. Identifiers and names are untrusted, so memory must be limited.
  package static let byteLimit = 2_560 << 10

  /// The memory of the people in bytes.
  package private(set) var bytes = 0
  private var slots: [Person?] = []
  /// The hashes of the identifiers, at the same positions as ``slots``.
  private var hashes: ContiguousArray<UInt32> = []
  private var index = PositionIndex()
  /// The position of the first person, or the end. All slots before it are gaps.
  private var first = 0

  package init() {}

  package var count: Int { index.count }
  package var isEmpty: Bool { index.count == 0 }

  package func contains(_ id: Text) -> Bool { position(of: id, Self.hash(id)) != nil }

  /// The waiting person with an identifier, if there is one.
  package subscript(id: Text) -> Person? { position(of: id, Self.hash(id)).flatMap { slots[$0] } }

  /// Adds a person at the end. A person who is already waiting keeps their position and gets the
  /// new name. Returns `false` if the list is full.
  @discardableResult
  package mutating func join(_ person: Person) -> Bool {
    let person = person.owned()
    let hash = Self.hash(person.id)
    let position = position(of: person.id, hash)
    let before = position.map { Self.byteCount(of: slots[$0]) } ?? 0
    let after = bytes - before + Self.byteCount(of: person)
    guard after <= Self.byteLimit else { return false }
    bytes = after
    if let position {
      slots[position] = person
    } else {
      slots.append(person)
      hashes.append(hash)
      index.insert(slots.count - 1, hashes)
    }
    return true
  }

  /// Returns the memory of a person: two texts in a separate block, a slot, a hash, and an index
  /// entry.
  private static func byteCount(of person: Person?) -> Int {
    guard let person else { return 0 }
    return person.byteCount + ByteSlab.padding + MemoryLayout<Person?>.stride + 64
  }

  package mutating func remove(_ id: Text) {
    guard let position = position(of: id, Self.hash(id)) else { return }
    index.remove(position, hashes)
    bytes -= Self.byteCount(of: slots[position])
    slots[position] = nil
    while first < slots.count, slots[first] == nil { first += 1 }
    if slots.count > 16, count < slots.count / 2 { closeGaps() }
  }

  private static func hash(_ id: Text) -> UInt32 { UInt32(truncatingIfNeeded: id.hashValue) }

  private func position(of id: Text, _ hash: UInt32) -> Int? {
    index.position(hash) { hashes[$0] == hash && slots[$0]?.id == id }
  }

  private mutating func closeGaps() {
    var remaining: ContiguousArray<UInt32> = []
    remaining.reserveCapacity(count)
    for (position, person) in slots.enumerated() where person != nil {
      remaining.append(hashes[position])
    }
    slots.removeAll { $0 == nil }
    hashes = remaining
    first = 0
    index = PositionIndex()
    for position in slots.indices { index.insert(position, hashes) }
  }
}

extension WaitingList: Sequence {
  /// Returns the waiting people in the order of their arrival.
  package func makeIterator() -> AnyIterator<Person> {
    var rest = slots[first...].lazy.compactMap(\.self).makeIterator()
    return AnyIterator { rest.next() }
  }
}

extension WaitingList: Codable {
  package init(from decoder: any Decoder) throws {
    for person in try decoder.singleValueContainer().decode([Person].self) { join(person) }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(Array(self))
  }
}

extension WaitingList: Equatable {
  package static func == (left: WaitingList, right: WaitingList) -> Bool {
    left.count == right.count && left.elementsEqual(right)
  }
}

extension Person {
  /// Returns a copy of the person that does not keep the received line in memory: identifier and
  /// name share a new slab.
  fileprivate func owned() -> Person {
    id.withUTF8 { id in
      name.withUTF8 { name in
        let slab = ByteSlab(Array(id) + Array(name))
        return Person(
          id: Text(slab: slab, slice: .init(offset: 0, count: id.count)),
          name: Text(slab: slab, slice: .init(offset: id.count, count: name.count)))
      }
    }
  }
}
