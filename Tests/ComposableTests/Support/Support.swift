import Composable
import ComposableTesting
import Synchronization

/// Waits until the task is cancelled.
func waitForCancellation() async throws {
  let stream = AsyncStream<Void> { _ in }
  for await _ in stream {}
  throw CancellationError()
}

/// Counts calls, by name.
final class Calls {
  private(set) var names: [String] = []

  func note(_ name: String) { names.append(name) }

  /// The calls since the last time.
  func taken() -> [String] {
    defer { names = [] }
    return names
  }
}

/// Text that other threads may add to.
final class Transcript: Sendable {
  private let contents = Mutex<[String]>([])

  var lines: [String] { contents.withLock { $0 } }

  func add(_ line: String) { contents.withLock { $0.append(line) } }
}
