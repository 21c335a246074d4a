import Composable
import Foundation

/// The program: keys become actions, changes of the state become lines.
@main
@MainActor
struct TerminalCounter {
  static func main() async {
    // The store lives on the main actor. Its reducer runs here, and so do its observers.
    let store = Store(initialState: Counter.State(), lane: MainActorLane()) {
      Counter(clock: ContinuousClock())
    }
    let observer = store.observeAll { _ in print(store.state.line) }
    print(help)
    print(store.state.line)
    for await key in keys() where key != "q" {
      if let action = Counter.Action(key: key) { store.send(action) }
    }
    observer.cancel()
  }

  /// The keys up to the first `q` or the end of the input.
  private static func keys() -> AsyncStream<Character> {
    let (keys, continuation) = AsyncStream.makeStream(of: Character.self)
    // A thread of its own, since reading blocks.
    Thread.detachNewThread {
      while let line = readLine(), !line.contains("q") {
        for key in line { continuation.yield(key) }
      }
      continuation.finish()
    }
    return keys
  }
}
