import Composable
import ComposableTesting
import Synchronization

/// Waits until the task is cancelled.
///
/// Returns then and does not throw. The testing library keeps a backtrace for every thrown error,
/// which would look like a leak in tests of memory use.
func waitForCancellation() async {
  let stream = AsyncStream<Void> { _ in }
  for await _ in stream {}
}

/// Whether this build is optimised. Guarantees about copies and allocations hold only in optimised
/// builds.
let isOptimised: Bool = {
  var isChecked = false
  assert(
    {
      isChecked = true
      return true
    }())
  return !isChecked
}()

/// Counts calls by name.
final class Calls {
  private(set) var names: [String] = []

  func record(_ name: String) { names.append(name) }

  /// Returns the calls since the last time.
  func taken() -> [String] {
    defer { names = [] }
    return names
  }
}

/// Text to which several threads can append.
final class Transcript: Sendable {
  private let contents = Mutex<[String]>([])

  var lines: [String] { contents.withLock { $0 } }

  func add(_ line: String) { contents.withLock { $0.append(line) } }
}

extension ReducerSteps {
  /// Makes a composition without a feature.
  static func make(
    @ReducerBuilder<State, Action> _ body: () -> ReducerSteps
  ) -> ReducerSteps { body() }
}

/// Releases its waiters when it is opened.
final class Gate: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream() }

  func wait() async { for await _ in stream {} }
  func open() { continuation.finish() }
}
