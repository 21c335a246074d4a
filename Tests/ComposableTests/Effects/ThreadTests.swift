import Composable
import Dispatch
import Testing

/// Tests with concurrent threads, for the thread sanitizer.
struct ThreadTests {
  @Test
  func `effects on many threads reach their store, even if it is released while some still run`()
    async
  {
    for _ in 0..<10 {
      let lane = QueueLane()
      let holder = Holder()
      let (effects, sends) = (50, 20)
      await withCheckedContinuation { continuation in
        lane.execute {
          let store = Store(initialState: Leaf(), lane: lane) {
            Reduce<Leaf, LeafFeature.Action> { state, action in
              switch action {
              case .slept:
                return .merge((0..<effects).map { _ in counting(sends) })
                  .followed(by: .merge((0..<4).map { noise($0) }))
              case .counted(let amount): state.count += amount
              case .awoken(let id): return .cancel(id: id)
              case .named, .ignored, .sleptOver, .dismissed: break
              }
              return .none
            }
          }
          holder.store = store
          store.onAction { [unowned store] action in
            // Half of the effects are cancelled by name, the rest end with the store.
            if case .counted = action, store.state.count == 10 {
              store.send(contentsOf: [.awoken(id: 0), .awoken(id: 1)])
            }
            guard case .counted = action, store.state.count == effects * sends else { return }
            lane.execute {
              holder.store = nil
              continuation.resume()
            }
          }
          store.send(.slept(id: 0))
        }
      }
    }
  }
}

/// Sends the number 1 this many times.
private func counting(_ sends: Int) -> Effect<LeafFeature.Action> {
  .run(onLane: false) { send in
    for number in 0..<sends {
      if number.isMultiple(of: 2) { send(.counted(1)) } else { send(contentsOf: [.counted(1)]) }
      await Task.yield()
    }
  }
}

/// Sends until it is cancelled.
private func noise(_ id: Int) -> Effect<LeafFeature.Action> {
  .run(onLane: false) { send in
    while !Task.isCancelled {
      send(.ignored)
      await Task.yield()
    }
  }
  .cancellable(id: id)
}

/// A lane on system threads. Effects run on the shared pool.
private final class QueueLane: Lane {
  private let queue = DispatchQueue(label: "lane")

  var taskExecutor: (any TaskExecutor)? { nil }

  func execute(_ job: @escaping @Sendable () -> Void) { queue.async(execute: job) }
}

/// Accessed only on the lane.
private final class Holder: @unchecked Sendable {
  var store: Store<Leaf, LeafFeature.Action>?
}
