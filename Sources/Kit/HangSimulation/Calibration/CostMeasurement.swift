/// How long one evaluation of a view, or one action, took on a real device.
package struct CostMeasurement: Hashable, Sendable {
  /// Of the view, or of the kind of action.
  package var name: String
  /// In nanoseconds, without views and actions within it.
  package var duration: Double
  /// How many elements it put on the screen, or carried.
  package var elements: Int
  /// Whether the view appeared.
  package var isFirst: Bool
  /// How many elements collections of the state had, by their paths, as far as that was recorded.
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

/// Why costs cannot be taken from measurements.
public struct CalibrationProblem: Error, Hashable, CustomStringConvertible {
  /// What is wrong.
  public let description: String

  package init(_ description: String) { self.description = description }
}
