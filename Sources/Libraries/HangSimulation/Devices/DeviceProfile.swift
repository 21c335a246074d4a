public import ViewGraph

/// A simulated device: its refresh rate, speed, and costs.
public struct DeviceProfile: Hashable, Sendable {
  /// The identifier in files and reports.
  public var name: String
  /// The display name.
  public var title: String
  /// The refresh rate in frames per second.
  public var refreshRate: Int
  /// The number of processor cores: one for the screen's thread, the others for effects.
  public var cores: Int
  /// The time taken relative to the reference device, in millionths.
  package var slowdown: Int64
  /// The conditions that slow the device down further, each by a factor in millionths, in the order
  /// of the file.
  package var conditions: [Condition]
  /// The costs on the reference device.
  public var costs: Costs

  package struct Condition: Hashable, Sendable {
    package var name: String
    package var factor: Int64

    package init(name: String, factor: Int64) {
      self.name = name
      self.factor = factor
    }
  }

  package init(
    name: String, title: String, refreshRate: Int, cores: Int, slowdown: Int64,
    conditions: [Condition], costs: Costs
  ) {
    self.name = name
    self.title = title
    self.refreshRate = refreshRate
    self.cores = cores
    self.slowdown = slowdown
    self.conditions = conditions
    self.costs = costs
  }

  /// The costs of actions and evaluations, in nanoseconds on the reference device.
  public struct Costs: Hashable, Sendable {
    /// The cost of reducing an action.
    package var action: Int64 = 0
    /// The additional cost of each element of a batch.
    package var element: Int64 = 0
    /// The costs of single kinds of actions, which replace ``action``, by name (``ActionKinds``).
    package var actions: [String: Int64] = [:]
    /// The additional cost per element of a collection in the state, by the name of the action kind
    /// and the path of the collection.
    package var actionFields: [String: [String: Int64]] = [:]
    /// The cost of evaluating a view.
    package var view = ViewCost()
    /// The costs of single views, which replace ``view``, by name.
    package var views: [String: ViewCost] = [:]
    /// The names of the measured constants: kinds of actions, `element`, and for a view such as
    /// `ChatView` the names `ChatView.evaluation`, `ChatView.element`, and `ChatView.appearance`.
    public package(set) var measured: Set<String> = []

    /// Returns the names of all constants of a screen.
    package static func constants(views: [String], actions: [String]) -> [String] {
      views.flatMap { view in
        ["evaluation", "element", "appearance"].map { "\(view).\($0)" }
      } + actions + ["element"]
    }

    package init() {}

    /// Creates the costs of reducing an action, of each element that an action carries, and of
    /// evaluating a view, for everything without a specific cost.
    public init(action: Duration, element: Duration = .zero, view: ViewCost) {
      self.action = VirtualTime(action).nanoseconds
      self.element = VirtualTime(element).nanoseconds
      self.view = view
    }

    /// Returns these costs with a specific cost for actions of the kind with this name, such as
    /// `cart.added`. With `isMeasured`, reports count the cost as measured.
    public func action(_ name: String, _ cost: Duration, isMeasured: Bool = false) -> Costs {
      var costs = self
      if isMeasured { costs.measured.insert(name) }
      costs.actions[name] = VirtualTime(cost).nanoseconds
      return costs
    }

    /// Returns these costs with an additional cost for each action of this kind, proportional to
    /// the number of elements in a collection of the state, such as `chat.messages`. Use this cost
    /// for a sort or a search.
    ///
    /// The cost is charged after the reduction, based on the resulting sizes.
    public func action(_ name: String, per field: String, _ cost: Duration) -> Costs {
      var costs = self
      costs.actionFields[name, default: [:]][field] = VirtualTime(cost).nanoseconds
      return costs
    }

    /// Returns these costs with specific costs for a view. With `isMeasured`, reports count the
    /// costs as measured.
    public func view<V: View>(
      _: V.Type, _ cost: ViewCost, isMeasured: Bool = false
    ) -> Costs {
      view(V.name, cost, isMeasured: isMeasured)
    }

    /// Returns these costs with specific costs for the view of this name. With `isMeasured`,
    /// reports count the costs as measured.
    public func view(_ name: String, _ cost: ViewCost, isMeasured: Bool = false) -> Costs {
      var costs = self
      if isMeasured {
        costs.measured.formUnion(["evaluation", "element", "appearance"].map { "\(name).\($0)" })
      }
      costs.views[name] = cost
      return costs
    }
  }

  /// The cost of a view, in nanoseconds on the reference device.
  public struct ViewCost: Hashable, Sendable {
    /// The cost of an evaluation.
    package var evaluation: Int64 = 0
    /// The additional cost of each element that the view puts on the screen.
    package var element: Int64 = 0
    /// The additional cost in the view's first frame, for resources that are created once.
    package var appearance: Int64 = 0
    /// The additional cost per element of a collection in the state, by the path of the collection.
    package var fields: [String: Int64] = [:]

    package init(evaluation: Int64 = 0, element: Int64 = 0, appearance: Int64 = 0) {
      self.evaluation = evaluation
      self.element = element
      self.appearance = appearance
    }

    /// Returns the costs of a view: the cost of an evaluation, the additional cost of each element
    /// that the view puts on the screen (``ViewNode/elementCount``), and the additional cost of the
    /// frame in which the view appears, for resources that are created once.
    public static func cost(
      _ evaluation: Duration, element: Duration = .zero, appearance: Duration = .zero
    ) -> ViewCost {
      ViewCost(
        evaluation: VirtualTime(evaluation).nanoseconds, element: VirtualTime(element).nanoseconds,
        appearance: VirtualTime(appearance).nanoseconds)
    }

    /// Returns this cost with an additional cost per element of a collection in the state, such as
    /// `chat.messages`. Use this cost for a body that reads all elements.
    public func per(_ field: String, _ cost: Duration) -> ViewCost {
      var result = self
      result.fields[field] = VirtualTime(cost).nanoseconds
      return result
    }
  }
}

/// A device under certain conditions. Reports use its name: `iphone-13-mini+low-power`.
public struct Device: Hashable, Sendable {
  /// The device without its conditions.
  public let profile: DeviceProfile
  /// The name with which the device was requested.
  public let name: String
  /// The names of the active conditions.
  public let conditions: [String]

  package init(profile: DeviceProfile, name: String, conditions: [String]) {
    self.profile = profile
    self.name = name
    self.conditions = conditions
  }

  /// Creates a device on which everything takes `slowdown` times as long as in `costs`.
  ///
  /// The screen's thread uses one of the `cores`; effects compute on the others. Each of the
  /// `conditions` multiplies all durations by a factor of at least 1: `["low-power": 1.4]`; see
  /// ``under(_:)``.
  public init(
    _ name: String, framesPerSecond: Int = 60, cores: Int = 2, slowdown: Double = 1,
    conditions: [String: Double] = [:], costs: DeviceProfile.Costs
  ) {
    precondition((1...240).contains(framesPerSecond), "a frame rate must be from 1 to 240")
    precondition(cores > 0, "a device must have at least one core")
    precondition((0.01...1_000).contains(slowdown), "a slowdown must be from 0.01 to 1000")
    precondition(
      conditions.values.allSatisfy((1...1_000).contains), "a condition must be from 1 to 1000")
    let factors = conditions.map { name, factor in
      DeviceProfile.Condition(name: name, factor: Int64((factor * 1_000_000).rounded()))
    }
    let profile = DeviceProfile(
      name: name, title: name, refreshRate: framesPerSecond, cores: cores,
      slowdown: Int64((slowdown * 1_000_000).rounded()),
      conditions: factors.sorted { $0.name < $1.name }, costs: costs)
    self.init(profile: profile, name: name, conditions: [])
  }

  /// Returns this device under some of its conditions, named for example `phone+low-power`.
  public func under(_ names: String...) -> Device {
    for name in names {
      precondition(
        profile.conditions.contains { $0.name == name } && !conditions.contains(name),
        "'\(self.name)' must have the condition '\(name)', which must not already apply")
    }
    return Device(
      profile: profile, name: ([name] + names).joined(separator: "+"),
      conditions: conditions + names)
  }

  /// Returns this device slowed by a factor. The name shows the factor.
  public func slowed(by factor: Double) -> Device {
    precondition((0.01...1_000).contains(factor), "a slowdown must be from 0.01 to 1000")
    var profile = profile
    let millionths = Int64((factor * 1_000_000).rounded())
    profile.slowdown = Int64(clamping: Int128(profile.slowdown) * Int128(millionths) / 1_000_000)
    let text = FixedPoint.text(millionths, decimals: 6, trimmed: true)
    return Device(profile: profile, name: "\(name) x \(text)", conditions: conditions)
  }

  /// The time taken relative to the reference device, in millionths, under all conditions.
  package var slowdown: Int64 {
    var product = Int128(profile.slowdown)
    for condition in profile.conditions.sorted(by: { $0.name < $1.name })
    where conditions.contains(condition.name) {
      product = product * Int128(condition.factor) / 1_000_000
    }
    return Int64(clamping: product)
  }
}

/// Costs that replace the costs of the device's profile, in nanoseconds on the reference device.
package struct CostOverrides: Hashable, Sendable {
  package var action: Int64?
  package var element: Int64?
  package var view: Int64?
  package var viewElement: Int64?
  package var appearance: Int64?
  /// The additional cost per element of a collection, by the name of a view or action kind and the
  /// path of the collection.
  package var per: [String: [String: Int64]] = [:]

  package init() {}
}
