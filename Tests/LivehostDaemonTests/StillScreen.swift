import Composable
import HostScreen
import ViewGraph

extension HostScreen {
  /// Creates a screen that uses no thread, and for which no time passes.
  static func still(
    analysesChat: Bool = false, restoring snapshot: ScreenSnapshot? = nil
  ) -> HostScreen {
    HostScreen(
      lane: SameThread(), framesPerSecond: 60, analysesChat: analysesChat, clock: StillClock(),
      restoring: snapshot)
  }
}

private struct SameThread: Lane {
  func execute(_ job: @escaping @Sendable () -> Void) { job() }
  var taskExecutor: (any TaskExecutor)? { nil }
}

private final class StillClock: EvaluationClock {
  let now: UInt64 = 0
}
