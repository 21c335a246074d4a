/// Work that grows with a collection of the state.
///
/// The costs of a device are constants, so a filter over all rows costs the same for 10 rows and
/// for 10,000. However, a simulation runs the real code, and measures its work on the simulating
/// machine. All durations here are measured, and differ from run to run.
public struct GrowthFinding: Sendable {
  /// The kind of work.
  public enum Kind: String, Sendable, CaseIterable {
    /// The evaluation of a view.
    case view
    /// The reduction of an action.
    case action
  }

  /// The dependence of the work on the number of elements.
  public enum Order: String, Sendable, CaseIterable {
    /// Proportional to the number.
    case linear = "n"
    /// The order of sorting the elements.
    case linearithmic = "n log n"
    /// The order of searching all elements once for each element.
    case quadratic = "n^2"
  }

  /// The work at the largest size that occurred on a device.
  public struct Projection: Sendable, Hashable {
    /// The name of the device.
    public var device: String
    /// The largest number of elements in the run on the device.
    public var size: Int
    /// The duration of one evaluation or reduction at that size: the measured work multiplied by
    /// the device's slowdown.
    public var work: Duration
  }

  /// The variant of the screen.
  public var variant: String
  /// The kind of work.
  public var kind: Kind
  /// The name of the view or action kind: `ChatView`, `chat.messages`.
  public var name: String
  /// The path of the collection with which the work grows, such as `chat.messages`; ``elements``
  /// for the elements that a view shows or an action carries.
  public var field: String
  /// Other collections whose sizes explain the work nearly as well, because they grow together.
  public var together: [String]
  /// The order that explains the measurements best.
  public var order: Order
  /// The average work per element over the measured sizes, on the simulating machine.
  public var perElement: Duration
  /// The confidence from 0 to 1: how consistently the work rises with the size, reduced by the part
  /// that the size does not explain.
  public var confidence: Double
  /// The sizes at which work was measured.
  public var sizes: ClosedRange<Int>
  /// The work at the largest size on each device, in the order of the runs.
  public var projected: [Projection]

  /// The name of the field that represents the elements that a view shows or an action carries.
  public static let elements = "(its elements)"
}
