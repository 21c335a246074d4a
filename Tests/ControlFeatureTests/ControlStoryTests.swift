import ComposableTesting
import ControlFeature
import Testing

@Suite struct ControlStoryTests {
  private func makeStore() -> TestStore<ControlFeature.State, ControlFeature.Action> {
    TestStore(initialState: ControlFeature.State()) { ControlFeature() }
  }

  @Test
  func `the release of a drag is committed after a value that was set remotely during the drag`()
    async
  {
    let store = makeStore()
    store.exhaustivity = .off
    await store.send(.sliderBegan(control: "zoom", value: 0.2)) { $0.dragging["zoom"] = 0.2 }
    await store.send(.sliderMoved(control: "zoom", value: 0.4)) { $0.dragging["zoom"] = 0.4 }
    await store.send(.set(control: "zoom", value: 0.9)) {
      $0.values["zoom"] = 0.9
      $0.committed = 1
    }
    await store.receive(.delegate(.committed(control: "zoom", value: 0.9)))
    #expect(store.state.dragging["zoom"] == 0.4)
    await store.send(.sliderReleased(control: "zoom", value: 0.5)) {
      $0.dragging["zoom"] = nil
      $0.values["zoom"] = 0.5
      $0.committed = 2
    }
    await store.receive(.delegate(.committed(control: "zoom", value: 0.5)))
    await store.finish()
  }

  @Test func `a drag whose end was lost is committed once by a time-out`() async {
    let store = makeStore()
    store.exhaustivity = .off
    await store.send(.sliderBegan(control: "zoom", value: 0.2))
    await store.send(.sliderMoved(control: "zoom", value: 0.3))
    for _ in 1..<DragBookkeeping.patience { await store.send(.ticked) }
    #expect(store.state.dragging["zoom"] == 0.3)
    // Another move restarts the time-out.
    await store.send(.sliderMoved(control: "zoom", value: 0.3))
    for _ in 1..<DragBookkeeping.patience { await store.send(.ticked) }
    #expect(store.state.committed == 0)
    await store.send(.ticked) {
      $0.dragging["zoom"] = nil
      $0.values["zoom"] = 0.3
      $0.committed = 1
    }
    await store.receive(.delegate(.committed(control: "zoom", value: 0.3)))

    store.exhaustivity = .on
    await store.send(.ticked)
    await store.finish()
  }

  @Test func `releasing a slider after the time-out of its drag commits only a changed value`()
    async
  {
    for (value, commits) in [(0.3, 1), (0.7, 2)] {
      let store = makeStore()
      store.exhaustivity = .off
      await store.send(.sliderMoved(control: "zoom", value: 0.3))
      for _ in 0..<DragBookkeeping.patience { await store.send(.ticked) }
      await store.send(.sliderReleased(control: "zoom", value: value))
      await store.skipReceivedActions(strict: false)
      #expect(store.state.values["zoom"] == value)
      #expect(store.state.committed == commits)
      // The next drag commits separately.
      await store.send(.sliderBegan(control: "zoom", value: value))
      await store.send(.sliderReleased(control: "zoom", value: value))
      await store.skipReceivedActions(strict: false)
      #expect(store.state.committed == commits + 1)
      await store.finish()
    }
  }

  @Test func `each drag of a slider has a separate time-out`() async {
    let store = makeStore()
    store.exhaustivity = .off
    await store.send(.sliderBegan(control: "zoom", value: 0.2))
    for _ in 0..<5 { await store.send(.ticked) }
    await store.send(.sliderBegan(control: "beauty", value: 0.6))
    for _ in 0..<5 { await store.send(.ticked) }
    await store.skipReceivedActions()
    #expect(store.state.dragging.names == ["beauty"])
    for _ in 0..<5 { await store.send(.ticked) }
    await store.skipReceivedActions()
    #expect(store.state.dragging.isEmpty)
    #expect(store.state.committed == 2)
    await store.finish()
  }

  @Test func `ending the stream is reported to the parent, which decides`() async {
    let store = makeStore()
    await store.send(.tapped(control: ControlFeature.endStream, on: nil))
    await store.receive(.delegate(.endStreamTapped(on: nil)))
    await store.finish()
  }
}
