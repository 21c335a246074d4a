import Composable
import ComposableTesting
import HostScreen
import ViewGraph

extension HostScreen {
  /// Creates a screen that uses no thread, and for which no time passes.
  static func still(
    analysesChat: Bool = false, restoring snapshot: ScreenSnapshot? = nil
  ) -> HostScreen {
    HostScreen(
      lane: DirectLane(), framesPerSecond: 60, analysesChat: analysesChat, clock: StillClock(),
      restoring: snapshot)
  }
}

private final class StillClock: EvaluationClock {
  let now: UInt64 = 0
}
