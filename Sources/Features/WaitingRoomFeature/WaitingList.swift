package import LiveEvents

/// People by identifier, in the order in which they came. They own their texts.
///
/// Joining, leaving and asking are O(1) on average: who leaves leaves a gap, and gaps are closed
/// when they are as many as the people.
package struct WaitingList: Sendable {
  private var places: [Person?] = []
  private var positions: [Text: Int] = [:]
  /// Where the first person stands, or would; all places before it are gaps.
  private var first = 0

  package init() {}

  package var count: Int { positions.count }
  package var isEmpty: Bool { positions.isEmpty }

  package func contains(_ id: Text) -> Bool { positions[id] != nil }

  /// Adds a person at the end. One who waits already keeps the place and takes the new name.
  package mutating func join(_ person: Person) {
    let person = person.owned()
    if let position = positions[person.id] {
      places[position] = person
    } else {
      positions[person.id] = places.count
      places.append(person)
    }
  }

  /// Removes a person, if there.
  package mutating func remove(_ id: Text) {
    guard let position = positions.removeValue(forKey: id) else { return }
    places[position] = nil
    while first < places.count, places[first] == nil { first += 1 }
    if places.count > 16, positions.count < places.count / 2 { closeGaps() }
  }

  private mutating func closeGaps() {
    places.removeAll { $0 == nil }
    first = 0
    for (position, person) in places.enumerated() {
      if let person { positions[person.id] = position }
    }
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
