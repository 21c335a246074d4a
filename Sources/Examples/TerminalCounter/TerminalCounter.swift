import Composable
import Foundation

/// The program: converts keys to actions, and prints changes of the state as lines.
@main
@MainActor
struct TerminalCounter {
  static func main() async {
    // The store belongs to the main actor, on which its reducer and its observers run.
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

  /// Returns the keys up to the first `q` or the end of the input.
  private static func keys() -> AsyncStream<Character> {
    let (keys, continuation) = AsyncStream.makeStream(of: Character.self)
    // Reading blocks, so it needs a dedicated thread.
    Thread.detachNewThread {
      while let line = readLine(), !line.contains("q") {
        for key in line { continuation.yield(key) }
      }
      continuation.finish()
    }
    return keys
  }
}
