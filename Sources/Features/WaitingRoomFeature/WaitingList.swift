package import LiveEvents

/// People by identifier, in the order in which they came. They own their texts.
///
/// Joining, leaving and asking are O(1) on average: who leaves leaves a gap, and gaps are closed
/// when they are as many as the people. The longest single step, that in which the table doubles, looks
/// at no text: hashes are kept.
package struct WaitingList: Sendable {
  private var places: [Person?] = []
  /// Of the identifiers, by place.
  private var hashes: ContiguousArray<UInt32> = []
  private var index = PlaceIndex()
  /// Where the first person stands, or would; all places before it are gaps.
  private var first = 0

  package init() {}

  package var count: Int { index.count }
  package var isEmpty: Bool { index.count == 0 }

  package func contains(_ id: Text) -> Bool { place(of: id, Self.hash(id)) != nil }

  /// The person of an identifier, if there.
  package subscript(id: Text) -> Person? { place(of: id, Self.hash(id)).flatMap { places[$0] } }

  /// Adds a person at the end. One who waits already keeps the place and takes the new name.
  package mutating func join(_ person: Person) {
    let person = person.owned()
    let hash = Self.hash(person.id)
    if let place = place(of: person.id, hash) {
      places[place] = person
    } else {
      places.append(person)
      hashes.append(hash)
      index.insert(places.count - 1, hashes)
    }
  }

  /// Removes a person, if there.
  package mutating func remove(_ id: Text) {
    guard let place = place(of: id, Self.hash(id)) else { return }
    index.remove(place, hashes)
    places[place] = nil
    while first < places.count, places[first] == nil { first += 1 }
    if places.count > 16, count < places.count / 2 { closeGaps() }
  }

  private static func hash(_ id: Text) -> UInt32 { UInt32(truncatingIfNeeded: id.hashValue) }

  private func place(of id: Text, _ hash: UInt32) -> Int? {
    index.place(hash) { hashes[$0] == hash && places[$0]?.id == id }
  }

  private mutating func closeGaps() {
    var kept: ContiguousArray<UInt32> = []
    kept.reserveCapacity(count)
    for (place, person) in places.enumerated() where person != nil { kept.append(hashes[place]) }
    places.removeAll { $0 == nil }
    hashes = kept
    first = 0
    index = PlaceIndex()
    for place in places.indices { index.insert(place, hashes) }
  }
}

extension WaitingList: Sequence {
  /// Those who wait, the first to come first.
  package func makeIterator() -> AnyIterator<Person> {
    var rest = places[first...].lazy.compactMap(\.self).makeIterator()
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
  /// The same person with texts in one slab of their own.
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
