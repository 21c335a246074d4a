/// Work that grows with a collection of the state: what took longer, and with which field.
///
/// The costs of a device are constants, so a filter over all rows costs the same at 10 rows and at 10,000. The real code
/// runs during a simulation, however, and its work is measured on the machine that simulates. All durations here are
/// measured, and differ from run to run.
public struct GrowthFinding: Sendable {
  /// What the work belongs to.
  public enum Kind: String, Sendable, CaseIterable {
    /// The evaluation of a view.
    case view
    /// The reduction of an action.
    case action
  }

  /// How the work depends on the number of elements.
  public enum Order: String, Sendable, CaseIterable {
    /// In proportion to it.
    case linear = "n"
    /// As a sort does.
    case linearithmic = "n log n"
    /// As a search for each element does.
    case quadratic = "n^2"
  }

  /// The work at the largest size that was seen on a device.
  public struct Projection: Sendable, Hashable {
    /// The name of the device.
    public var device: String
    /// The largest number of elements that the run on it had.
    public var size: Int
    /// How long one evaluation or reduction takes then: measured work times the slowdown of the device.
    public var work: Duration
  }

  /// The variant of the screen.
  public var variant: String
  /// What the work belongs to.
  public var kind: Kind
  /// The name of the view, or of the kind of action: `ChatView`, `chat.messages`.
  public var name: String
  /// The path of the field that the work grows with, such as `chat.messages`. ``elements`` names the elements that a view
  /// shows or an action carries.
  public var field: String
  /// Other fields whose sizes explain the work nearly as well, since they grow together.
  public var together: [String]
  /// The shape that explains the measurements best.
  public var order: Order
  /// Work for each element, on average over the sizes that were seen, on the machine that simulates.
  public var perElement: Duration
  /// How sure it is, from 0 to 1: how consistently the work rises with the size, less what the size does not explain.
  public var confidence: Double
  /// The sizes at which work was measured.
  public var sizes: ClosedRange<Int>
  /// The work at the largest size on each device, in the order of the runs.
  public var projected: [Projection]

  /// The name of a field that stands for the elements that a view shows or an action carries.
  public static let elements = "(its elements)"
}
