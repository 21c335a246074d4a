import Locking
import SystemSupport

/// The hangs since the daemon started. The hang monitor adds them, and clients list and watch them.
package final class HangFeed: Sendable {
  /// The maximum number of stored hangs, beyond which the oldest are dropped.
  package static let capacity = 1_000

  private struct State {
    var hangs: [HangReport] = []
    var count = 0
    var microhangs = 0
    var isFinished = false
  }

  private let state = Guarded(State())
  private let signal = ChangeSignal()

  package init() {}

  /// Assigns a number to a hang and adds the hang. Calls `announce` with it before clients can see
  /// it. Must always be called from the same thread.
  @discardableResult
  package func add(_ hang: HangReport, announce: (HangReport) -> Void = { _ in }) -> HangReport {
    var numbered = hang
    numbered.number = state.withLock { $0.count } + 1
    announce(numbered)
    state.withLock { [numbered] state in
      state.count = numbered.number
      if numbered.kind == .microhang { state.microhangs += 1 }
      if state.hangs.count == Self.capacity { state.hangs.removeFirst() }
      state.hangs.append(numbered)
    }
    signal.raise()
    return numbered
  }

  /// Ends all monitors. Each one first receives the remaining stored hangs.
  package func finish() {
    state.withLock { $0.isFinished = true }
    signal.raise()
  }

  /// The numbers of microhangs and hangs since the daemon started.
  package var counts: (microhangs: Int, hangs: Int) {
    state.withLock { ($0.microhangs, $0.count - $0.microhangs) }
  }

  /// The newest hang; `nil` if there was none.
  package var newest: HangReport? { state.withLock { $0.hangs.last } }

  /// Returns the stored hangs that began at `timestamp` or later, in milliseconds since 1970.
  package func hangs(since timestamp: Int = .min) -> [HangReport] {
    state.withLock { $0.hangs.filter { $0.timestamp >= timestamp } }
  }

  /// Waits until there are hangs with higher numbers than the given one, and returns these hangs.
  /// Returns an empty array once the feed is finished. Throws `CancellationError`.
  func next(after number: Int) async throws -> [HangReport] {
    while true {
      try Task.checkCancellation()
      let (new, isFinished) = state.withLock { state in
        (state.hangs.filter { $0.number > number }, state.isFinished)
      }
      if !new.isEmpty || isFinished { return new }
      await signal.wait { state.withLock { $0.count <= number && !$0.isFinished } }
    }
  }
}
