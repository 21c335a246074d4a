import ViewGraph

/// The costs of a device under its conditions, in nanoseconds, for fast look-up.
struct CostTable: Sendable {
  /// The limit of a single cost, nearly three hours, so that sums of costs do not overflow.
  private static let limit: Int64 = 10_000_000_000_000

  /// The costs of actions by action number (``ActionKinds``). Empty until the kinds are known.
  private var actions: [Int64] = []
  private let action: Int64
  private let costs: [String: Int64]
  private let element: Int64
  private let view: DeviceProfile.ViewCost
  private let views: [String: DeviceProfile.ViewCost]
  /// The costs per element of a collection on the reference device, by the name of a view or action
  /// kind and the path of the collection.
  private let fields: [String: [String: Int64]]
  private let slowdown: Int128

  init(_ device: Device, _ overrides: CostOverrides) {
    let slowdown = Int128(device.slowdown)
    func scaled(_ cost: Int64) -> Int64 {
      min(Self.limit, Int64(clamping: Int128(cost) * slowdown / 1_000_000))
    }
    func scaled(_ cost: DeviceProfile.ViewCost) -> DeviceProfile.ViewCost {
      DeviceProfile.ViewCost(
        evaluation: scaled(overrides.view ?? cost.evaluation),
        element: scaled(overrides.viewElement ?? cost.element),
        appearance: scaled(overrides.appearance ?? cost.appearance))
    }
    let costs = device.profile.costs
    action = scaled(overrides.action ?? costs.action)
    self.costs = costs.actions.mapValues(scaled)
    element = scaled(overrides.element ?? costs.element)
    view = scaled(costs.view)
    views = costs.views.mapValues(scaled)
    self.slowdown = slowdown
    fields = costs.actionFields
      .merging(costs.views.mapValues(\.fields)) { $0.merging($1) { $1 } }
      .merging(overrides.per) { $0.merging($1) { $1 } }
  }

  /// Returns the time on the device of work that was measured on the simulating machine. Assumes
  /// that this machine is as fast as the reference device.
  func scaled(_ measured: Int64) -> Int64 {
    min(Self.limit, Int64(clamping: Int128(measured) * slowdown / 1_000_000))
  }

  /// Returns the cost of putting the view's elements on the screen.
  func layout(ofView name: String, showing output: ViewNode) -> Int64 {
    (views[name] ?? view).element * Int64(output.elementCount)
  }

  /// The paths of all collections that affect costs.
  var paths: Set<String> { Set(fields.values.flatMap(\.keys)) }

  /// Returns the part of a view's or action kind's cost that depends on the sizes of collections.
  /// `size` returns the number of elements of the collection at a path.
  func cost(ofFieldsOf name: String, size: (String) -> Int) -> Int64 {
    guard let fields = fields[name] else { return 0 }
    let cost = fields.reduce(Int128(0)) { $0 + Int128($1.value) * Int128(size($1.key)) }
    return min(Self.limit, Int64(clamping: cost * slowdown / 1_000_000))
  }

  /// Looks up the costs of these kinds of actions.
  mutating func add(_ kinds: ActionKinds) {
    actions = (0..<kinds.count).map { costs[kinds.name($0)] ?? action }
  }

  /// - Parameter kind: An action number of ``ActionKinds``.
  func cost(ofAction kind: Int, elements: Int) -> Int64 {
    actions[kind] + element * Int64(min(elements, 100_000))
  }

  func cost(ofView name: String, showing output: ViewNode) -> Int64 {
    let cost = views.isEmpty ? view : views[name] ?? view
    return cost.evaluation + cost.element * Int64(output.elementCount)
  }

  func appearance(ofView name: String) -> Int64 { (views[name] ?? view).appearance }
  func element(ofView name: String) -> Int64 { (views[name] ?? view).element }
}
