package import HangSimulation
import HostFeature
package import YAMLReader

extension Calibration.Names {
  /// The names of the views and actions of the host's screen whose costs are calibrated.
  package static let host = Calibration.Names(
    views: HostView.names, actions: ActionKinds.host.names)
}

extension Calibration {
  /// Returns a device profile in YAML. It contains the measured costs, and takes all other values
  /// from another device.
  ///
  /// - Parameters:
  ///   - like: The name of the other device.
  ///   - path: The path of the new profile. The other device is searched for near this path.
  package func profile(like: String, at path: String) throws(ConfigurationError) -> String {
    let reference = YAMLNode(like, option: "--like")
    let device = try DeviceFile(files: .disk, scenario: path).device(like, reference)
    guard device.conditions.isEmpty else {
      throw reference.problem("is a device under conditions; omit the conditions")
    }
    let costs = applied(to: device.profile).costs
    let (measured, all) = constants
    var lines = [
      "# \(measured) of \(all) constants measured; the others are copied from \(like).",
      "like: \(like)", "costs:",
    ]
    let measuredActions = items.filter { !$0.isView }
    if measuredActions.first?.element != nil { lines.append("  element: \(costs.element)ns") }
    if !measuredActions.isEmpty { lines.append("  actions:") }
    for item in measuredActions {
      let cost = "\(costs.actions[item.name] ?? 0)ns"
      let per = Self.per(costs.actionFields[item.name] ?? [:])
      lines.append(
        "    \(item.name): \(per.map { "{cost: \(cost), \($0)}" } ?? cost)  # \(item.note)")
    }
    let views = items.filter(\.isView)
    if !views.isEmpty { lines.append("  views:") }
    for item in views {
      guard let cost = costs.views[item.name] else { continue }
      var parts = ["evaluation: \(cost.evaluation)ns"]
      if item.element != nil { parts.append("element: \(cost.element)ns") }
      if item.appearance != nil { parts.append("appearance: \(cost.appearance)ns") }
      if let per = Self.per(item.fields.isEmpty ? [:] : cost.fields) { parts.append(per) }
      lines.append("    \(item.name): {\(parts.joined(separator: ", "))}  # \(item.note)")
    }
    lines.append("  measured: [\(self.measured.sorted().joined(separator: ", "))]")
    return lines.joined(separator: "\n") + "\n"
  }

  /// Returns the YAML key `per` with the costs that depend on sizes; `nil` if there are none.
  private static func per(_ fields: [String: Int64]) -> String? {
    guard !fields.isEmpty else { return nil }
    let costs = fields.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value)ns" }
    return "per: {\(costs.joined(separator: ", "))}"
  }
}

extension Calibration.Item {
  fileprivate var note: String {
    let thousandths = Int64((min(error.threeQuarters, 1e6) * 1_000).rounded())
    return "\(count) measurements, 75 % of held-out errors within "
      + FixedPoint.text(thousandths, decimals: 1) + " %"
  }
}
