package import HostFeature
package import ViewGraph

/// The time in which a screen lives.
///
/// A simulated one moves on with each action and each evaluation, by what these cost on the device
/// that it stands for; a real one only tells the time.
package protocol ScreenClock: EvaluationClock {
  /// Whether ``didReduce(_:)`` is called.
  var countsActions: Bool { get }

  /// An action was reduced.
  func didReduce(_ action: HostFeature.Action)
}

extension ScreenClock {
  package var countsActions: Bool { false }
  package func didReduce(_ action: HostFeature.Action) {}
}
