import Wording

/// The runs to which a condition applies: of a device, a variant, or a variant on a device.
package struct ThresholdScope: Hashable, Sendable {
  /// One or two names.
  private let names: [String]

  init(_ text: String) throws(ThresholdProblem) {
    names = text.split(separator: ",", omittingEmptySubsequences: false).map { name in
      name.split(separator: " ").joined(separator: " ")
    }
    guard (1...2).contains(names.count), names.allSatisfy({ !$0.isEmpty }) else {
      throw ThresholdProblem(
        "'for' needs a device, a variant, or both, such as 'for iphone-15-plus, tracked'")
    }
  }

  var text: String { names.joined(separator: ", ") }

  func contains(device: String, variant: String) -> Bool {
    guard names.count == 2 else { return names[0] == device || names[0] == variant }
    return names == [device, variant] || names == [variant, device]
  }

  /// Checks the names. `leftOut` are the names of devices and variants that were not chosen.
  ///
  /// - Throws: A description of the problem, with a suggestion.
  package func check(
    devices: [String], variants: [String], leftOut: [String] = []
  ) throws(ThresholdProblem) {
    let known = variants + devices + leftOut
    for name in names where !known.contains(name) {
      throw ThresholdProblem(
        "there is no variant or device '\(name)'" + Spelling.hint(for: name, among: known))
    }
    guard names.count == 2 else { return }
    for (kind, group) in [("devices", devices), ("variants", variants)]
    where names.allSatisfy(group.contains) && !(devices + variants).allSatisfy(names.contains) {
      throw ThresholdProblem("'\(names[0])' and '\(names[1])' are both \(kind); no run has both")
    }
  }
}
