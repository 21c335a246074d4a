import ComposableTesting
import LiveEvents
import Testing
import WaitingRoomFeature

@Suite struct WaitingRoomStoryTests {
  @Test func `two people join, one leaves, and one is admitted`() async {
    let ann = Person(id: "ann", name: "Ann")
    let bob = Person(id: "bob", name: "Bob")
    let store = TestStore(initialState: WaitingRoomFeature.State()) { WaitingRoomFeature() }
    await store.send(.changed([.joined(ann), .joined(bob)])) {
      $0.people.join(ann)
      $0.people.join(bob)
    }
    await store.send(.changed([.left(ann)])) { $0.people.remove("ann") }
    await store.send(.changed([.admitted(ann)])) { $0.unmatched = 1 }
    await store.send(.changed([.admitted(bob)])) {
      $0.people.remove("bob")
      $0.admitted = 1
    }
    await store.finish()
  }

  @Test func `the host admits one person, then as many as the capacity allows`() async {
    let people = (1...5).map { Person(id: Text("u\($0)"), name: Text("name \($0)")) }
    let store = TestStore(initialState: WaitingRoomFeature.State()) { WaitingRoomFeature() }
    await store.send(.admitNextTapped)
    await store.send(.changed(people.map { .joined($0) })) {
      for person in people { $0.people.join(person) }
    }
    await store.send(.capacityChanged(3)) { $0.capacity = 3 }
    await store.send(.admitNextTapped) {
      $0.people.remove("u1")
      $0.admitted = 1
    }
    await store.receive(.delegate(.admitted([people[0]])))
    await store.send(.admitAllTapped) {
      $0.people.remove("u2")
      $0.people.remove("u3")
      $0.admitted = 3
    }
    await store.receive(.delegate(.admitted([people[1], people[2]])))
    // The room is full: the host can admit nobody, but the platform can.
    await store.send(.admitNextTapped)
    await store.send(.changed([.admitted(people[3])])) {
      $0.people.remove("u4")
      $0.admitted = 4
    }
    await store.send(.admitPersonTapped("u5"))
    await store.send(.capacityChanged(nil)) { $0.capacity = nil }
    await store.send(.admitPersonTapped("nobody"))
    await store.send(.admitPersonTapped("u5")) {
      $0.people.remove("u5")
      $0.admitted = 5
    }
    await store.receive(.delegate(.admitted([people[4]])))
    await store.send(.admitAllTapped)
    await store.finish()
  }

  @Test func `people are admitted automatically at a pace, up to the capacity`() async {
    let people = (1...9).map { Person(id: Text("u\($0)"), name: Text("name \($0)")) }
    let store = TestStore(initialState: WaitingRoomFeature.State()) { WaitingRoomFeature() }
    func admit(_ range: ClosedRange<Int>, at time: Timestamp) async {
      await store.send(.ticked(at: time)) {
        for number in range { $0.people.remove(people[number - 1].id) }
        $0.admitted = range.upperBound
        _ = $0.pacing?.removeDue(until: time)
      }
      await store.receive(
        .delegate(.admitted(Array(people[(range.lowerBound - 1)..<range.upperBound]))))
    }
    await store.send(.paceChanged(2.5, at: 1_000)) {
      $0.pace = 2.5
      $0.pacing = AdmissionPace(perSecond: 2.5, since: 1_000)
    }
    // Nobody waits, so no admissions accumulate.
    await store.send(.ticked(at: 60_000))
    await store.send(.changed(people.map { .joined($0) })) {
      for person in people { $0.people.join(person) }
    }
    await admit(1...5, at: 61_000)
    await admit(6...7, at: 62_000)
    await store.send(.capacityChanged(8)) { $0.capacity = 8 }
    await admit(8...8, at: 63_000)
    await store.send(.ticked(at: 64_000))
    await store.send(.capacityChanged(nil)) { $0.capacity = nil }
    await store.send(.paceChanged(nil, at: 64_000)) { ($0.pace, $0.pacing) = (nil, nil) }
    await store.send(.ticked(at: 65_000))
    await store.finish()
  }

  @Test func `the pace of admissions is exact for any interval between ticks`() {
    for (perSecond, milliseconds) in [(0.01, 1_000), (0.7, 333), (3, 1_000), (1_000, 16)] {
      var pace = AdmissionPace(perSecond: perSecond, since: 0)
      let ticks = 200_000 / milliseconds
      var people = 0
      for tick in 1...ticks { people += pace.removeDue(until: Timestamp(tick * milliseconds)) }
      let expected = perSecond * Double(ticks * milliseconds) / 1_000
      #expect(abs(Double(people) - expected) <= 1, "\(perSecond) per second")
    }
    // A clock that jumps ahead does not admit a crowd, and one that is set back admits nobody.
    var pace = AdmissionPace(perSecond: 3, since: 0)
    #expect(pace.removeDue(until: 1_000_000_000) == 6)
    #expect(pace.removeDue(until: 1_000) == 0)
    #expect(pace.removeDue(until: 2_000) == 3)
    var extreme = AdmissionPace(perSecond: 0.01, since: .min)
    #expect(extreme.removeDue(until: .max) == 1)
  }

  @Test func `the countdown to the stream decreases by seconds and stops at zero`() async {
    let store = TestStore(initialState: WaitingRoomFeature.State()) { WaitingRoomFeature() }
    await store.send(.ticked(at: 1_000))
    await store.send(.scheduled(4_500, at: 1_000)) {
      $0.startsAt = 4_500
      $0.secondsLeft = 4
    }
    await store.send(.ticked(at: 2_000)) { $0.secondsLeft = 3 }
    await store.send(.ticked(at: 2_400))
    await store.send(.ticked(at: 3_500)) { $0.secondsLeft = 1 }
    await store.send(.ticked(at: 9_000)) { $0.secondsLeft = 0 }
    await store.send(.scheduled(nil, at: 9_000)) {
      $0.startsAt = nil
      $0.secondsLeft = nil
    }
    await store.send(.ticked(at: 9_500))
    await store.finish()
  }

  @Test(arguments: [Int64.min, .max]) func `extreme timestamps do no harm to the waiting room`(
    time: Timestamp
  ) async {
    let store = TestStore(initialState: WaitingRoomFeature.State()) { WaitingRoomFeature() }
    store.exhaustivity = .off
    await store.send(.scheduled(time, at: 0))
    await store.send(.ticked(at: ~time))
    await store.send(.ticked(at: time))
    #expect(store.state.secondsLeft == 0)
    await store.finish()
  }
}
