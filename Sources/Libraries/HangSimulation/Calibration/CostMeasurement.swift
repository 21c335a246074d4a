/// The duration of one evaluation of a view, or of one action, on a real device.
package struct CostMeasurement: Hashable, Sendable {
  /// The name of the view or action kind.
  package var name: String
  /// The duration in nanoseconds, excluding nested views and actions.
  package var duration: Double
  /// The number of elements that the view showed or the action carried.
  package var elements: Int
  /// Whether the view appeared.
  package var isFirst: Bool
  /// The element counts of collections in the state, by path, as far as recorded.
  package var sizes: [String: Int]

  package init(
    name: String, duration: Double, elements: Int = 0, isFirst: Bool = false,
    sizes: [String: Int] = [:]
  ) {
    self.name = name
    self.duration = duration
    self.elements = elements
    self.isFirst = isFirst
    self.sizes = sizes
  }
}

/// The reason why costs cannot be derived from measurements.
public struct CalibrationProblem: Error, Hashable, CustomStringConvertible {
  /// A description of the problem.
  public let description: String

  package init(_ description: String) { self.description = description }
}
