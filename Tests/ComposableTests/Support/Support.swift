import Composable
import ComposableTesting
import Synchronization

/// Waits until the task is cancelled.
///
/// Returns then, and does not throw: for every error that is thrown the testing library keeps a
/// backtrace, which would look like a leak where memory is watched.
func waitForCancellation() async {
  let stream = AsyncStream<Void> { _ in }
  for await _ in stream {}
}

/// Whether this build is optimised; what is promised of copies and allocations holds only then.
let isOptimised: Bool = {
  var isChecked = false
  assert(
    {
      isChecked = true
      return true
    }())
  return !isChecked
}()

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

extension ReducerSteps {
  /// A composition on its own.
  static func make(
    @ReducerBuilder<State, Action> _ body: () -> ReducerSteps
  ) -> ReducerSteps { body() }
}

/// Lets go of what waits when it is opened.
final class Gate: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream() }

  func wait() async { for await _ in stream {} }
  func open() { continuation.finish() }
}
