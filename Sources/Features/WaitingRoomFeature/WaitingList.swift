package import LiveEvents

/// People by identifier, in the order in which they came. They own their text.
///
/// Joining, leaving and lookup are O(1) on average: somebody who leaves leaves a gap, and the gaps
/// are closed once there are as many as people. The longest single step, in which the table
/// doubles, reads no text, because hashes are stored.
package struct WaitingList: Sendable {
  /// The most bytes that the people may take: some 12,000 with names of an ordinary length. Strangers
  /// choose identifiers and names, so there must be an end.
  package static let byteLimit = 2_560 << 10

  /// What the people take, in bytes.
  package private(set) var bytes = 0
  private var slots: [Person?] = []
  /// The hashes of the identifiers, at the same positions.
  private var hashes: ContiguousArray<UInt32> = []
  private var index = PositionIndex()
  /// The position of the first person, or the end; all slots before it are gaps.
  private var first = 0

  package init() {}

  package var count: Int { index.count }
  package var isEmpty: Bool { index.count == 0 }

  package func contains(_ id: Text) -> Bool { position(of: id, Self.hash(id)) != nil }

  /// The person with an identifier, if they are waiting.
  package subscript(id: Text) -> Person? { position(of: id, Self.hash(id)).flatMap { slots[$0] } }

  /// Adds a person at the end. Somebody who is already waiting keeps their position, under the new
  /// name. Returns `false` if there is no capacity left for them.
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

  /// What a person takes: two texts in a block of their own, a slot, a hash and a place in the index.
  private static func byteCount(of person: Person?) -> Int {
    guard let person else { return 0 }
    return person.byteCount + ByteSlab.padding + MemoryLayout<Person?>.stride + 64
  }

  /// Removes a person, if they are waiting.
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
    var kept: ContiguousArray<UInt32> = []
    kept.reserveCapacity(count)
    for (position, person) in slots.enumerated() where person != nil {
      kept.append(hashes[position])
    }
    slots.removeAll { $0 == nil }
    hashes = kept
    first = 0
    index = PositionIndex()
    for position in slots.indices { index.insert(position, hashes) }
  }
}

extension WaitingList: Sequence {
  /// The people who are waiting, in the order in which they came.
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
  /// The same person, with identifier and name in one slab of their own.
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
