public import ViewGraph

/// A device for the simulator: its refresh rate, how slow it is, and what things cost on it.
public struct DeviceProfile: Hashable, Sendable {
  /// Names it in files and reports.
  public var name: String
  /// Its name for people.
  public var title: String
  /// Frames per second.
  public var refreshRate: Int
  /// Processor cores. The thread of the screen has one, effects compute on the others.
  public var cores: Int
  /// Time taken relative to the reference device, in millionths.
  package var slowdown: Int64
  /// Conditions that slow it down further, each by a factor in millionths, in the order of the
  /// file.
  package var conditions: [Condition]
  /// What things cost on the reference device.
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

  /// Nanoseconds on the reference device.
  public struct Costs: Hashable, Sendable {
    /// To reduce one action.
    package var action: Int64 = 0
    /// Added for each element of a batch.
    package var element: Int64 = 0
    /// To reduce an action of a kind, instead of ``action``; by the names of ``ActionKinds``.
    package var actions: [String: Int64] = [:]
    /// Added to that for each element of a collection of the state, by the names of kinds and the paths of collections.
    package var actionFields: [String: [String: Int64]] = [:]
    /// To evaluate any view.
    package var view = ViewCost()
    /// Costs of single views, by name, instead of ``view``.
    package var views: [String: ViewCost] = [:]
    /// Which constants were measured: names of kinds of actions, `element`, and `ChatView.evaluation`,
    /// `ChatView.element` and `ChatView.appearance` of a view.
    public package(set) var measured: Set<String> = []

    /// The constants of a screen, by these names.
    package static func constants(views: [String], actions: [String]) -> [String] {
      views.flatMap { view in
        ["evaluation", "element", "appearance"].map { "\(view).\($0)" }
      } + actions + ["element"]
    }

    package init() {}

    /// What things cost where nothing else is said about them.
    ///
    /// - Parameters:
    ///   - action: to reduce one action.
    ///   - element: added for each element that an action carries.
    ///   - view: to evaluate a view.
    public init(action: Duration, element: Duration = .zero, view: ViewCost) {
      self.action = VirtualTime(action).nanoseconds
      self.element = VirtualTime(element).nanoseconds
      self.view = view
    }

    /// The same costs, with another one for the kind of action of this name, such as `cart.added`.
    ///
    /// - Parameter isMeasured: whether reports count it as measured.
    public func action(_ name: String, _ cost: Duration, isMeasured: Bool = false) -> Costs {
      var costs = self
      if isMeasured { costs.measured.insert(name) }
      costs.actions[name] = VirtualTime(cost).nanoseconds
      return costs
    }

    /// The same costs, with more for an action of this kind for each element of a collection of the state, such as
    /// `chat.messages`: what a sort or a search costs. The work of a reducer is charged when it has ended, by the sizes
    /// that it leaves behind.
    public func action(_ name: String, per field: String, _ cost: Duration) -> Costs {
      var costs = self
      costs.actionFields[name, default: [:]][field] = VirtualTime(cost).nanoseconds
      return costs
    }

    /// The same costs, with others for a view.
    ///
    /// - Parameter isMeasured: whether reports count them as measured.
    public func view<V: View>(
      _: V.Type, _ cost: ViewCost, isMeasured: Bool = false
    ) -> Costs {
      view(V.name, cost, isMeasured: isMeasured)
    }

    /// The same costs, with others for the view of this name.
    ///
    /// - Parameter isMeasured: whether reports count them as measured.
    public func view(_ name: String, _ cost: ViewCost, isMeasured: Bool = false) -> Costs {
      var costs = self
      if isMeasured {
        costs.measured.formUnion(["evaluation", "element", "appearance"].map { "\(name).\($0)" })
      }
      costs.views[name] = cost
      return costs
    }
  }

  /// What a view costs.
  public struct ViewCost: Hashable, Sendable {
    /// To evaluate it.
    package var evaluation: Int64 = 0
    /// Added for each element that it puts on the screen.
    package var element: Int64 = 0
    /// Added in the frame in which it appears, for what is created once.
    package var appearance: Int64 = 0
    /// Added for each element of a collection of the state, by the paths of collections.
    package var fields: [String: Int64] = [:]

    package init(evaluation: Int64 = 0, element: Int64 = 0, appearance: Int64 = 0) {
      self.evaluation = evaluation
      self.element = element
      self.appearance = appearance
    }

    /// - Parameters:
    ///   - evaluation: to evaluate it.
    ///   - element: added for each element that it puts on the screen; see ``ViewNode/elementCount``.
    ///   - appearance: added in the frame in which it appears, for what is created once.
    public static func cost(
      _ evaluation: Duration, element: Duration = .zero, appearance: Duration = .zero
    ) -> ViewCost {
      ViewCost(
        evaluation: VirtualTime(evaluation).nanoseconds, element: VirtualTime(element).nanoseconds,
        appearance: VirtualTime(appearance).nanoseconds)
    }

    /// The same cost, with more for each element of a collection of the state, such as `chat.messages`: what a body costs
    /// that looks at all of them.
    public func per(_ field: String, _ cost: Duration) -> ViewCost {
      var result = self
      result.fields[field] = VirtualTime(cost).nanoseconds
      return result
    }
  }
}

/// A device under some conditions. Its name is that of the runs: `iphone-13-mini+low-power`.
public struct Device: Hashable, Sendable {
  /// The device without conditions.
  public let profile: DeviceProfile
  /// As requested.
  public let name: String
  /// Names of the conditions.
  public let conditions: [String]

  package init(profile: DeviceProfile, name: String, conditions: [String]) {
    self.profile = profile
    self.name = name
    self.conditions = conditions
  }

  /// A device of your own.
  ///
  /// - Parameters:
  ///   - cores: processor cores. The thread of the screen has one, effects compute on the others.
  ///   - slowdown: how many times as long everything takes as `costs` says.
  ///   - conditions: how many times as long everything takes under each, from 1 on: `["low-power": 1.4]`; see ``under(_:)``.
  public init(
    _ name: String, framesPerSecond: Int = 60, cores: Int = 2, slowdown: Double = 1,
    conditions: [String: Double] = [:], costs: DeviceProfile.Costs
  ) {
    precondition((1...240).contains(framesPerSecond), "1 to 240 frames per second")
    precondition(cores > 0, "a device has a core")
    precondition((0.01...1_000).contains(slowdown), "a slowdown is from 0.01 to 1000")
    precondition(
      conditions.values.allSatisfy((1...1_000).contains), "a condition is from 1 to 1000")
    let factors = conditions.map { name, factor in
      DeviceProfile.Condition(name: name, factor: Int64((factor * 1_000_000).rounded()))
    }
    let profile = DeviceProfile(
      name: name, title: name, refreshRate: framesPerSecond, cores: cores,
      slowdown: Int64((slowdown * 1_000_000).rounded()),
      conditions: factors.sorted { $0.name < $1.name }, costs: costs)
    self.init(profile: profile, name: name, conditions: [])
  }

  /// This device under conditions that it has; its name says so: `phone+low-power`.
  public func under(_ names: String...) -> Device {
    for name in names {
      precondition(
        profile.conditions.contains { $0.name == name } && !conditions.contains(name),
        "'\(self.name)' has the condition '\(name)', and is not under it yet")
    }
    return Device(
      profile: profile, name: ([name] + names).joined(separator: "+"),
      conditions: conditions + names)
  }

  /// This device, this many times as slow, under a name that says so.
  public func slowed(by factor: Double) -> Device {
    precondition((0.01...1_000).contains(factor), "a slowdown is from 0.01 to 1000")
    var profile = profile
    let millionths = Int64((factor * 1_000_000).rounded())
    profile.slowdown = Int64(clamping: Int128(profile.slowdown) * Int128(millionths) / 1_000_000)
    let text = FixedPoint.text(millionths, decimals: 6, trimmed: true)
    return Device(profile: profile, name: "\(name) x \(text)", conditions: conditions)
  }

  /// Time taken relative to the reference device, in millionths. The order of the conditions makes
  /// no difference.
  package var slowdown: Int64 {
    var product = Int128(profile.slowdown)
    for condition in profile.conditions.sorted(by: { $0.name < $1.name })
    where conditions.contains(condition.name) {
      product = product * Int128(condition.factor) / 1_000_000
    }
    return Int64(clamping: product)
  }
}

/// Costs that replace those of the device's profile, in nanoseconds on the reference device.
package struct CostOverrides: Hashable, Sendable {
  package var action: Int64?
  package var element: Int64?
  package var view: Int64?
  package var viewElement: Int64?
  package var appearance: Int64?
  /// Added for each element of a collection, by the names of views and kinds of actions and the paths of collections.
  package var per: [String: [String: Int64]] = [:]

  package init() {}
}
