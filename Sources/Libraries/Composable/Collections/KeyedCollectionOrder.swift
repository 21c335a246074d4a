/// The order of the elements: an array of slots, with gaps where elements were removed. An index of
/// this array is called a place. When gaps outnumber slots, all gaps are closed together, which
/// makes removal amortised O(1). The collection stores the place of each slot, so the methods
/// report each changed place to a closure.
@usableFromInline struct KeyedCollectionOrder: Sendable {
  @usableFromInline static var gap: Int32 { -1 }
  /// The number of gaps that are tolerated, because closing so few is not worthwhile.
  @usableFromInline static var tolerableGaps: Int { 32 }

  @usableFromInline var places: ContiguousArray<Int32> = []
  @usableFromInline var gaps = 0
  /// The first place that is not a gap, or `places.count` if there is none.
  @usableFromInline var first = 0

  @inlinable init() {}

  /// Returns the next place, starting at this one, that is not a gap.
  @inlinable func next(from place: Int) -> Int {
    var place = place
    while place < places.count, places[place] == Self.gap { place += 1 }
    return place
  }

  /// Returns the last place before this one that is not a gap, or -1 if there is none.
  @inlinable func previous(before place: Int) -> Int {
    var place = place - 1
    while place >= 0, places[place] == Self.gap { place -= 1 }
    return place
  }

  @inlinable mutating func append(_ slot: Int32, _ moved: (Int32, Int32) -> Void) {
    moved(slot, Int32(places.count))
    places.append(slot)
  }

  /// Inserts a slot before a place. The following slots are shifted up to the next gap.
  @inlinable mutating func insert(
    _ slot: Int32, before place: Int, _ moved: (Int32, Int32) -> Void
  ) {
    if place > 0, places[place - 1] == Self.gap {
      places[place - 1] = slot
      moved(slot, Int32(place - 1))
      gaps -= 1
      first = min(first, place - 1)
      return
    }
    var carried = slot
    var place = place
    first = min(first, place)
    while place < places.count {
      swap(&carried, &places[place])
      moved(places[place], Int32(place))
      guard carried != Self.gap else {
        gaps -= 1
        return
      }
      place += 1
    }
    append(carried, moved)
  }

  @inlinable mutating func remove(at place: Int, _ moved: (Int32, Int32) -> Void) {
    places[place] = Self.gap
    gaps += 1
    while places.last == Self.gap {
      places.removeLast()
      gaps -= 1
    }
    if place == first { first = next(from: min(place, places.count)) }
    if gaps > Self.tolerableGaps, gaps > places.count - gaps { closeGaps(moved) }
  }

  @inlinable mutating func closeGaps(_ moved: (Int32, Int32) -> Void) {
    var target = 0
    for slot in places where slot != Self.gap {
      places[target] = slot
      moved(slot, Int32(target))
      target += 1
    }
    places.removeLast(places.count - target)
    gaps = 0
    first = 0
  }

  @inlinable mutating func removeAll() {
    places.removeAll(keepingCapacity: true)
    gaps = 0
    first = 0
  }
}
