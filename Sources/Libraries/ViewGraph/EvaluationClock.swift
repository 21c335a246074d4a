/// The clock that measures the evaluation of views. A real clock only returns the time. A simulated
/// clock advances when an evaluation or a frame is reported, by the cost on the simulated device.
public protocol EvaluationClock: AnyObject {
  /// The current time in monotonic nanoseconds.
  var now: UInt64 { get }

  /// Called before the body of a view with this name is evaluated.
  func willEvaluate(_ view: String)

  /// Called after the body was evaluated with the result `output`, for the first time if `isFirst`
  /// is true. Child views are evaluated and reported separately.
  func didEvaluate(_ view: String, _ output: ViewNode, isFirst: Bool)

  /// Called after all views of a frame were evaluated.
  func didEvaluateFrame()
}

extension EvaluationClock {
  public func willEvaluate(_ view: String) {}
  public func didEvaluate(_ view: String, _ output: ViewNode, isFirst: Bool) {}
  public func didEvaluateFrame() {}
}

final class FunctionClock: EvaluationClock {
  private let read: () -> UInt64

  init(_ read: @escaping () -> UInt64) { self.read = read }

  var now: UInt64 { read() }
}
