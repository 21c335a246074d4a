/// The time in which views are evaluated.
///
/// A real clock only gives the time. A simulated one advances when it is notified of an evaluation
/// or a frame, by what these cost on the device that it simulates.
public protocol EvaluationClock: AnyObject {
  /// Monotonic nanoseconds.
  var now: UInt64 { get }

  /// The body of the view of this name is about to run.
  func willEvaluate(_ view: String)

  /// It ran and gave `output`. Views below are evaluated afterwards, on their own account.
  ///
  /// - Parameter isFirst: whether the view was not on the screen before.
  func didEvaluate(_ view: String, _ output: ViewNode, isFirst: Bool)

  /// All views that had to be evaluated for a frame were evaluated.
  func didEvaluateFrame()
}

extension EvaluationClock {
  public func willEvaluate(_ view: String) {}
  public func didEvaluate(_ view: String, _ output: ViewNode, isFirst: Bool) {}
  public func didEvaluateFrame() {}
}

/// A clock made of a function.
final class FunctionClock: EvaluationClock {
  private let read: () -> UInt64

  init(_ read: @escaping () -> UInt64) { self.read = read }

  var now: UInt64 { read() }
}
