import ComposableTesting
import LiveEvents
import Testing
import WaitingRoomFeature

@Suite struct WaitingRoomStoryTests {
  @Test func twoComeOneGivesUpAndOneIsLetIn() async {
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
}
