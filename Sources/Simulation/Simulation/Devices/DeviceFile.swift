import HangSimulation
import HostFeature
import RateLimiting
import Wording
import YAMLReader

/// Reads device profiles.
///
///     title: iPhone 13 mini
///     like: iphone-15-plus        # provides refresh rate, conditions and costs not given here
///     cores: 6
///     slowdown: 1.75
///     conditions: {low-power: 1.4}
///     costs: {action: 140us, element: 20us, view: 2ms, viewElement: 0.5ms, appearance: 60ms,
///             actions: {chat.notice: 150us,
///                       chat.messages: {cost: 90us, per: {chat.topChatters: 1us}}},
///             views: {ChatView: {appearance: 150ms, per: {chat.topChatters: 2us}}},
///             measured: [chat.notice, ChatView.appearance]}
struct DeviceFile {
  let files: ScenarioFiles
  /// The path of the scenario. Device profiles are searched for near this path.
  let scenario: String

  /// - Parameter reference: The YAML node that names the device, for errors.
  func device(_ text: String, _ reference: YAMLNode) throws(ConfigurationError) -> Device {
    let parts = text.split(separator: "+", omittingEmptySubsequences: false).map(String.init)
    guard parts.allSatisfy({ !$0.isEmpty }) else {
      throw reference.problem("expected a device such as iphone-13-mini+low-power, not '\(text)'")
    }
    let profile = try profile(parts[0], reference, depth: 0)
    var conditions: [String] = []
    for name in parts.dropFirst() {
      guard profile.conditions.contains(where: { $0.name == name }) else {
        let hint = Spelling.hint(for: name, among: profile.conditions.map(\.name))
        throw reference.problem("the device \(parts[0]) has no condition '\(name)'\(hint)")
      }
      guard !conditions.contains(name) else {
        throw reference.problem("has the condition '\(name)' twice")
      }
      conditions.append(name)
    }
    return Device(profile: profile, name: text, conditions: conditions)
  }

  private func profile(
    _ name: String, _ reference: YAMLNode, depth: Int
  ) throws(ConfigurationError) -> DeviceProfile {
    guard let (path, text) = files.device(name, scenario: scenario) else {
      let known = files.deviceNames(scenario: scenario)
      throw reference.problem(
        "there is no device '\(name)'" + Spelling.hint(for: name, among: known))
    }
    guard depth < 8 else { throw reference.problem("refers to itself through 'like'") }
    let top = try YAMLMapping(
      YAMLNode(path, text),
      known: ["title", "like", "refreshRate", "cores", "slowdown", "conditions", "costs"])
    var profile: DeviceProfile
    if let like = top["like"] {
      profile = try self.profile(like.text(), like, depth: depth + 1)
      // The costs of the device named by `like` were not measured on this device.
      profile.costs.measured = []
    } else {
      profile = DeviceProfile(
        name: name, title: name, refreshRate: 60, cores: 2, slowdown: 1_000_000, conditions: [],
        costs: DeviceProfile.Costs())
      guard top["costs"] != nil else {
        throw top.problem(
          at: nil, "needs 'costs', or 'like' with the name of another device")
      }
    }
    profile.name = name
    profile.title = try top["title"]?.text() ?? name
    if let rate = top["refreshRate"] { profile.refreshRate = try rate.integer(in: 1...240) }
    if let cores = top["cores"] { profile.cores = try cores.integer(in: 1...256) }
    if let slowdown = top["slowdown"] { profile.slowdown = try slowdown.factor(atLeast: 10_000) }
    if let conditions = top["conditions"] { try read(conditions, into: &profile.conditions) }
    if let costs = top["costs"] { try read(costs, into: &profile.costs) }
    return profile
  }

  private func read(
    _ node: YAMLNode, into conditions: inout [DeviceProfile.Condition]
  ) throws(ConfigurationError) {
    for (name, value) in try YAMLMapping(node, known: nil).entries {
      let factor = try value.factor(atLeast: 1_000_000)
      conditions.removeAll { $0.name == name }
      conditions.append(DeviceProfile.Condition(name: name, factor: factor))
    }
  }

  private func read(
    _ node: YAMLNode, into costs: inout DeviceProfile.Costs
  ) throws(ConfigurationError) {
    let keys = try YAMLMapping(
      node,
      known: [
        "action", "element", "actions", "view", "viewElement", "appearance", "views", "measured",
      ])
    func set(_ cost: inout Int64, _ key: String) throws(ConfigurationError) {
      if let value = keys[key] { cost = try value.interval().nanoseconds }
    }
    try set(&costs.action, "action")
    try set(&costs.element, "element")
    try set(&costs.view.evaluation, "view")
    try set(&costs.view.element, "viewElement")
    try set(&costs.view.appearance, "appearance")
    if let measured = keys["measured"] {
      let constants = DeviceProfile.Costs.constants(
        views: HostView.names, actions: ActionKinds.host.names)
      for name in try measured.list() {
        costs.measured.insert(try name.choice(constants.map { ($0, $0) }))
      }
    }
    if let actions = keys["actions"] {
      for (name, value) in try YAMLMapping(actions, known: ActionKinds.host.names).entries {
        if value.scalar != nil {
          costs.actions[name] = try value.interval().nanoseconds
        } else {
          let keys = try YAMLMapping(value, known: ["cost", "per"])
          if let cost = keys["cost"] { costs.actions[name] = try cost.interval().nanoseconds }
          if let per = keys["per"] { costs.actionFields[name] = try HostCollections.costs(per) }
        }
      }
    }
    if let views = keys["views"] {
      for (name, value) in try YAMLMapping(views, known: HostView.names).entries {
        var cost = costs.views[name] ?? costs.view
        try read(value, into: &cost)
        costs.views[name] = cost
      }
    }
  }

  private func read(
    _ node: YAMLNode, into cost: inout DeviceProfile.ViewCost
  ) throws(ConfigurationError) {
    let keys = try YAMLMapping(node, known: ["evaluation", "element", "appearance", "per"])
    if let value = keys["evaluation"] { cost.evaluation = try value.interval().nanoseconds }
    if let value = keys["element"] { cost.element = try value.interval().nanoseconds }
    if let value = keys["appearance"] { cost.appearance = try value.interval().nanoseconds }
    if let per = keys["per"] { cost.fields = try HostCollections.costs(per) }
  }
}
