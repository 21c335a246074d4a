import ViewGraph

/// The costs of one device under its conditions, prepared for fast look-up.
struct CostTable: Sendable {
  /// The highest cost of one thing, nearly three hours, so that sums of costs do not overflow.
  private static let limit: Int64 = 10_000_000_000_000

  /// By the numbers of ``ActionKinds``, in nanoseconds. Empty until the kinds are known.
  private var actions: [Int64] = []
  private let action: Int64
  private let costs: [String: Int64]
  private let element: Int64
  private let view: DeviceProfile.ViewCost
  private let views: [String: DeviceProfile.ViewCost]

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
  }

  /// Looks up what these kinds of action cost.
  mutating func add(_ kinds: ActionKinds) {
    actions = (0..<kinds.count).map { costs[kinds.name($0)] ?? action }
  }

  /// - Parameter kind: a number of ``ActionKinds``.
  func cost(ofAction kind: Int, elements: Int) -> Int64 {
    actions[kind] + element * Int64(min(elements, 100_000))
  }

  func cost(ofView name: String, showing output: ViewNode) -> Int64 {
    let cost = views.isEmpty ? view : views[name] ?? view
    return cost.evaluation + cost.element * Int64(output.elementCount)
  }

  func appearance(ofView name: String) -> Int64 { (views[name] ?? view).appearance }
}
