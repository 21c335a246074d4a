public import ViewGraph

/// A plan of a simulation: variants of a screen on devices.
public struct SimulationPlan: Sendable {
  /// The name in reports.
  public var name: String
  /// The seed of all random choices.
  public var seed: UInt64
  /// The duration in virtual time.
  public var duration: VirtualTime
  /// The devices. Each variant runs on each device.
  public var devices: [Device]
  /// The versions of the screen to compare.
  public var variants: [Variant]
  /// The conditions that every run must meet.
  public var thresholds: [Threshold]
  /// The minimum lengths of microhangs and hangs.
  public var bounds: HangBounds
  /// The number of repetitions of each run with measured costs; 0 for none.
  public var measuredRepeats = 0
  /// The parameters that were set from outside, for the report.
  package var parameters: [(key: String, value: String)] = []
  /// Whether names are checked after the runs; false if the scenario's names were already checked.
  package var checksNames = true
  package var limits = RunLimits()
  /// A factor for the rates of generated events, in millionths.
  package var load: Int64 = 1_000_000
  /// The names of devices and variants that were removed from the plan by a selection.
  package var leftOut: [String] = []
  /// Whether real work is measured to detect work that grows with the state.
  package var findsGrowth = true

  /// A version of the screen.
  public struct Variant: Sendable {
    /// The name in reports.
    public var name: String
    /// The frame rate; `nil` for the device's own refresh rate.
    public var framesPerSecond: Int?
    /// The names of views, in the order of the reports. Other views follow as they appear. Naming a
    /// view that appears in no run is an error.
    public var views: [String]
    package var costs = CostOverrides()
    /// The latest of the individually given event times; `nil` if there are none.
    package var lastEvent: VirtualTime?
    let make: @Sendable (SimulatedWorld) -> any RunningScreen

    /// Creates a version of the screen.
    ///
    /// - Parameter make: Creates the screen and draws its first frame, once for each run.
    public init(
      _ name: String, framesPerSecond: Int? = nil, views: [String] = [],
      make: @escaping @Sendable (SimulatedWorld) -> any RunningScreen
    ) {
      precondition(framesPerSecond.map { (1...240).contains($0) } ?? true)
      self.name = name
      self.framesPerSecond = framesPerSecond
      self.views = views
      self.make = make
    }
  }

  /// - Parameter thresholds: The conditions that every run must meet; see ``Threshold``.
  public init(
    _ name: String, seed: UInt64 = 0, duration: VirtualTime, devices: [Device],
    variants: [Variant], thresholds: [Threshold] = [], bounds: HangBounds = .platform
  ) {
    precondition(.zero < duration, "the duration must be positive")
    self.name = name
    self.seed = seed
    self.duration = duration
    self.devices = devices
    self.variants = variants
    self.thresholds = thresholds
    self.bounds = bounds
  }
}

/// A mismatch between a plan and its screen, such as a device with costs for an unknown view.
public struct SimulationProblem: Error, CustomStringConvertible {
  /// A description of the problem, with a suggestion.
  public let description: String
}
