public import ViewGraph

/// What to simulate: versions of a screen on devices.
public struct SimulationPlan: Sendable {
  /// Its name in reports.
  public var name: String
  /// Everything that is left to chance follows from it.
  public var seed: UInt64
  /// How long it lasts, in virtual time.
  public var duration: VirtualTime
  /// Each variant runs on each.
  public var devices: [Device]
  /// Versions of the screen, to be compared.
  public var variants: [Variant]
  /// Conditions that every run has to meet.
  public var thresholds: [Threshold]
  /// Where the classes of long turns begin.
  public var bounds: HangBounds
  /// How often each run is repeated with costs that are measured meanwhile, for ``SimulationReport/measured``; 0 for never.
  public var measuredRepeats = 0
  /// What was set from outside, for the report.
  package var parameters: [(key: String, value: String)] = []
  /// Not if names were checked where they were written.
  package var checksNames = true
  package var limits = RunLimits()
  /// A factor for the rates of generated events, in millionths.
  package var load: Int64 = 1_000_000
  /// Devices and variants that it had before some of them were chosen.
  package var leftOut: [String] = []
  /// Whether real work is measured, to find what grows with the state.
  package var findsGrowth = true

  /// One version of the screen.
  public struct Variant: Sendable {
    /// Its name in reports.
    public var name: String
    /// `nil` for the device's own refresh rate.
    public var framesPerSecond: Int?
    /// Names of views, in the order of the reports. Others follow as they appear; one that no run shows is an error.
    public var views: [String]
    package var costs = CostOverrides()
    /// The last of the times that were given one by one; `nil` if there are none.
    package var lastEvent: VirtualTime?
    let make: @Sendable (SimulatedWorld) -> any RunningScreen

    /// - Parameters:
    ///   - make: makes the screen and draws its first frame, once for each run.
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

  /// - Parameter thresholds: conditions that every run has to meet; see ``Threshold``.
  public init(
    _ name: String, seed: UInt64 = 0, duration: VirtualTime, devices: [Device],
    variants: [Variant], thresholds: [Threshold] = [], bounds: HangBounds = .platform
  ) {
    precondition(.zero < duration, "a simulation takes time")
    self.name = name
    self.seed = seed
    self.duration = duration
    self.devices = devices
    self.variants = variants
    self.thresholds = thresholds
    self.bounds = bounds
  }
}

/// A plan that fits its screen badly, such as a device with the costs of a view that there is not.
public struct SimulationProblem: Error, CustomStringConvertible {
  /// What is wrong, with a suggestion.
  public let description: String
}
