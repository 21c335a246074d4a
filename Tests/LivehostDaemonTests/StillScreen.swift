import Composable
import HostScreen
import ViewGraph

extension HostScreen {
  /// A screen without a thread of its own, for which no time passes.
  static func still() -> HostScreen {
    HostScreen(lane: SameThread(), framesPerSecond: 60, clock: StillClock())
  }
}

private struct SameThread: Lane {
  func execute(_ job: @escaping @Sendable () -> Void) { job() }
  var taskExecutor: (any TaskExecutor)? { nil }
}

private final class StillClock: EvaluationClock {
  let now: UInt64 = 0
}
