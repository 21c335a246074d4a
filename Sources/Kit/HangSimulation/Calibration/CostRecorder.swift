import ViewGraph

/// Measures what the actions, evaluations and frames of a screen really take on this machine, while it is simulated.
///
/// Belongs to the thread that simulates.
final class CostRecorder {
  private let now: () -> UInt64
  private(set) var measurements: [CostMeasurement] = []
  private(set) var frames: [HereCalibration.Frame] = []
  /// When what is being measured began.
  private var mark: UInt64 = 0
  private var turnStart: UInt64 = 0

  /// - Parameter now: monotonic nanoseconds.
  init(now: @escaping () -> UInt64) { self.now = now }

  func beginTurn() {
    turnStart = now()
    mark = turnStart
  }

  /// - Parameter simulated: what the frame took on the simulated device.
  func endFrame(simulated: Int64) {
    frames.append(
      HereCalibration.Frame(simulated: simulated, measured: Int64(clamping: now() &- turnStart)))
  }

  /// Ends an action that followed the one before, or the beginning of the turn.
  func endAction(_ name: String, elements: Int) {
    let duration = now() &- mark
    measurements.append(
      CostMeasurement(name: name, duration: Double(duration), elements: elements))
    mark = now()
  }

  func beginEvaluation() { mark = now() }

  func endEvaluation(_ view: String, _ output: ViewNode, isFirst: Bool) {
    let duration = now() &- mark
    measurements.append(
      CostMeasurement(
        name: view, duration: Double(duration), elements: output.elementCount, isFirst: isFirst))
  }
}
