import Suggestions

/// Reads device profiles.
///
///     title: iPhone 13 mini
///     like: iphone-15-plus        # its refresh rate, conditions and costs, where not given here
///     slowdown: 1.75
///     conditions: {low-power: 1.4}
///     costs: {action: 140us, element: 20us, view: 2ms, viewElement: 0.5ms, appearance: 60ms,
///             actions: {chat.notice: 150us}, views: {ChatView: {appearance: 150ms}}}
struct DeviceFile {
  let files: ScenarioFiles
  /// The scenario, next to which devices are looked for.
  let scenario: String

  /// - Parameter reference: where the device was named, for errors.
  func device(_ text: String, _ reference: Cell) throws(ScenarioError) -> Device {
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
        throw reference.problem("names the condition '\(name)' twice")
      }
      conditions.append(name)
    }
    return Device(profile: profile, name: text, conditions: conditions)
  }

  private func profile(
    _ name: String, _ reference: Cell, depth: Int
  ) throws(ScenarioError) -> DeviceProfile {
    guard let (path, text) = files.device(name, scenario: scenario) else {
      let known = files.deviceNames(scenario: scenario)
      throw reference.problem(
        "there is no device '\(name)'" + Spelling.hint(for: name, among: known))
    }
    guard depth < 8 else { throw reference.problem("leads back to itself by way of 'like'") }
    let top = try Section(
      Cell.parsing(text, file: path),
      known: ["title", "like", "refreshRate", "slowdown", "conditions", "costs"])
    var profile: DeviceProfile
    if let like = top["like"] {
      profile = try self.profile(like.text(), like, depth: depth + 1)
    } else {
      profile = DeviceProfile(
        name: name, title: name, refreshRate: 60, slowdown: 1_000_000, conditions: [],
        costs: DeviceProfile.Costs())
      guard top["costs"] != nil else {
        throw top.problem(
          at: nil, "needs 'costs', or 'like' with the name of a device that has them")
      }
    }
    profile.name = name
    profile.title = try top["title"]?.text() ?? name
    if let rate = top["refreshRate"] { profile.refreshRate = try rate.integer(in: 1...240) }
    if let slowdown = top["slowdown"] { profile.slowdown = try slowdown.factor(atLeast: 10_000) }
    if let conditions = top["conditions"] { try read(conditions, into: &profile.conditions) }
    if let costs = top["costs"] { try read(costs, into: &profile.costs) }
    return profile
  }

  private func read(
    _ cell: Cell, into conditions: inout [DeviceProfile.Condition]
  ) throws(ScenarioError) {
    let section = try Section(cell, known: nil)
    for name in section.names {
      let factor = try section.required(name).factor(atLeast: 1_000_000)
      conditions.removeAll { $0.name == name }
      conditions.append(DeviceProfile.Condition(name: name, factor: factor))
    }
  }

  private func read(_ cell: Cell, into costs: inout DeviceProfile.Costs) throws(ScenarioError) {
    let section = try Section(
      cell,
      known: ["action", "element", "actions", "view", "viewElement", "appearance", "views"])
    if let cell = section["action"] { costs.action = try cell.duration().nanoseconds }
    if let cell = section["element"] { costs.element = try cell.duration().nanoseconds }
    if let cell = section["view"] { costs.view.evaluation = try cell.duration().nanoseconds }
    if let cell = section["viewElement"] { costs.view.element = try cell.duration().nanoseconds }
    if let cell = section["appearance"] { costs.view.appearance = try cell.duration().nanoseconds }
    if let cell = section["actions"] {
      let actions = try Section(cell, known: ActionKind.names)
      for (index, name) in ActionKind.names.enumerated() {
        if let cost = actions[name] { costs.actions[index] = try cost.duration().nanoseconds }
      }
    }
    if let cell = section["views"] {
      let views = try Section(cell, known: ScreenViews.names)
      for name in views.names { try read(views.required(name), of: name, into: &costs) }
    }
  }

  private func read(
    _ cell: Cell, of view: String, into costs: inout DeviceProfile.Costs
  ) throws(ScenarioError) {
    let section = try Section(cell, known: ["evaluation", "element", "appearance"])
    var cost = costs.views.first { $0.view == view }?.cost ?? costs.view
    if let cell = section["evaluation"] { cost.evaluation = try cell.duration().nanoseconds }
    if let cell = section["element"] { cost.element = try cell.duration().nanoseconds }
    if let cell = section["appearance"] { cost.appearance = try cell.duration().nanoseconds }
    costs.views.removeAll { $0.view == view }
    costs.views.append(DeviceProfile.NamedViewCost(view: view, cost: cost))
  }
}
