import Foundation
import LiveEvents
import TestSupport
import Testing
import WaitingRoomFeature

@Suite struct WaitingRoomFeatureTests {
  private func person(_ id: String, name: String? = nil) -> Person {
    Person(id: Text(id), name: Text(name ?? id.uppercased()))
  }

  private func state(
    after changes: WaitingRoomFeature.Change...
  ) -> WaitingRoomFeature.State {
    var state = WaitingRoomFeature.State()
    _ = WaitingRoomFeature().reduce(into: &state, action: .changed(changes))
    return state
  }

  @Test func `people are listed in the order in which they joined`() {
    let state = state(
      after: .joined(person("cyd")), .joined(person("ann")), .joined(person("bob")),
      .left(person("ann")))
    #expect(state.people.map { String($0.name) } == ["CYD", "BOB"])
    #expect(state.people.count == 2)
    #expect(state.admitted == 0)
    #expect(state.unmatched == 0)
  }

  @Test func `admitted people are removed from the waiting room`() {
    let state = state(after: .joined(person("ann")), .admitted(person("ann")))
    #expect(state.people.isEmpty)
    #expect(state.admitted == 1)
  }

  @Test func `a leave or an admission of a person who is not waiting is only counted`() {
    let state = state(
      after: .left(person("ann")), .admitted(person("bob")), .joined(person("cyd")),
      .admitted(person("cyd")), .admitted(person("cyd")))
    #expect(state.people.isEmpty)
    #expect(state.admitted == 1)
    #expect(state.unmatched == 3)
  }

  @Test func `a person who joins twice keeps the position in the queue and gets the new name`() {
    let state = state(
      after: .joined(person("ann")), .joined(person("bob")), .joined(person("ann", name: "Anna")))
    #expect(state.people.map { String($0.name) } == ["Anna", "BOB"])
  }

  @Test func `the names of listed people are copied and do not keep received lines in memory`() {
    let line = ByteSlab(Array("ann Ann and the rest of a long line".utf8))
    let received = Person(
      id: Text(slab: line, slice: .init(offset: 0, count: 3)),
      name: Text(slab: line, slice: .init(offset: 4, count: 3)))
    let state = state(after: .joined(received))
    #expect(Array(state.people) == [received])
  }

  /// Compares with a plain list, through many gaps.
  @Test(arguments: 1...20) func `the list of waiting people behaves like a simple model`(
    seed: UInt64
  ) {
    var random = SplitMix64(seed: seed)
    var state = WaitingRoomFeature.State()
    var model: [Person] = []
    var admitted = 0
    var unmatched = 0
    for _ in 0..<1_000 {
      let someone = person("p\(Int.random(in: 0..<60, using: &random))")
      let change: WaitingRoomFeature.Change
      switch Int.random(in: 0..<4, using: &random) {
      case 0, 1:
        change = .joined(someone)
        if !model.contains(someone) { model.append(someone) }
      case let kind:
        change = kind == 2 ? .left(someone) : .admitted(someone)
        if model.contains(someone) {
          model.removeAll { $0 == someone }
          if kind == 3 { admitted += 1 }
        } else {
          unmatched += 1
        }
      }
      _ = WaitingRoomFeature().reduce(into: &state, action: .changed([change]))
      #expect(Array(state.people) == model)
      #expect(state.people.count == model.count)
      #expect(state.people.contains(someone.id) == model.contains(someone))
      #expect(state.people[someone.id] == (model.contains(someone) ? someone : nil))
    }
    #expect(state.admitted == admitted)
    #expect(state.unmatched == unmatched)
  }

  @Test
  func `people beyond the limit are counted but not listed, and the others keep their positions`()
    throws
  {
    var state = WaitingRoomFeature.State()
    let name = String(repeating: "n", count: 256)
    for number in 0..<10_000 {
      let joined = Person(id: Text("\(number)"), name: Text(name))
      _ = WaitingRoomFeature().reduce(into: &state, action: .changed([.joined(joined)]))
    }
    #expect(state.people.bytes <= WaitingList.byteLimit)
    #expect(state.people.count > 5_000)
    #expect(state.people.count + (state.leftOut ?? 0) == 10_000)
    #expect(state.people.first { _ in true }?.id == "0")
    let restored = try JSONDecoder().decode(
      WaitingList.self, from: JSONEncoder().encode(state.people))
    #expect(restored.bytes == state.people.bytes)
    _ = WaitingRoomFeature().reduce(into: &state, action: .admitAllTapped)
    #expect(state.people.isEmpty && state.people.bytes == 0)
  }

  /// Compares with a set. There are enough people that the table grows and shrinks repeatedly.
  @Test(arguments: 1...3) func `very many people can join and leave the waiting room`(seed: UInt64)
  {
    var random = SplitMix64(seed: seed)
    var list = WaitingList()
    var model: Set<Int> = []
    for wave in 0..<6 {
      for _ in 0..<6_000 {
        let number = Int.random(in: 0..<5_000, using: &random)
        // Alternates between mostly joins and mostly leaves.
        if Int.random(in: 0..<10, using: &random) < (wave.isMultiple(of: 2) ? 8 : 2) {
          list.join(person("p\(number)"))
          model.insert(number)
        } else {
          list.remove(Text("p\(number)"))
          model.remove(number)
        }
      }
      #expect(list.count == model.count)
      #expect((0..<5_000).allSatisfy { list.contains(Text("p\($0)")) == model.contains($0) })
      #expect(Set(list.map { String($0.id) }) == Set(model.map { "p\($0)" }))
    }
  }
}
