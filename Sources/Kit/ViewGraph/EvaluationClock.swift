/// The time in which views are evaluated.
///
/// A real clock only tells the time. A simulated one moves on in ``didEvaluate(_:_:isFirst:)``, by
/// what the evaluation costs on the device that it stands for.
public protocol EvaluationClock: AnyObject {
  /// Monotonic nanoseconds.
  var now: UInt64 { get }

  /// The body of the view of this name is about to run.
  func willEvaluate(_ view: String)

  /// It ran and gave `output`. Views below are evaluated afterwards, on their own account.
  ///
  /// - Parameter isFirst: whether the view was not on the screen before.
  func didEvaluate(_ view: String, _ output: ViewNode, isFirst: Bool)
}

extension EvaluationClock {
  public func willEvaluate(_ view: String) {}
  public func didEvaluate(_ view: String, _ output: ViewNode, isFirst: Bool) {}
}

/// A clock made of a function.
final class FunctionClock: EvaluationClock {
  private let read: () -> UInt64

  init(_ read: @escaping () -> UInt64) { self.read = read }

  var now: UInt64 { read() }
}
