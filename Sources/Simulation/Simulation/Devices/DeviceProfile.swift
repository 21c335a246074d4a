/// A device for the simulator: its refresh rate, how slow it is, and what things cost on it.
package struct DeviceProfile: Hashable, Sendable {
  /// The name of its file.
  package var name: String
  /// Its name for people.
  package var title: String
  /// Frames per second.
  package var refreshRate: Int
  /// Processor cores. The thread of the screen has one, effects compute on the others.
  package var cores: Int
  /// Time taken relative to the reference device, in millionths.
  package var slowdown: Int64
  /// Conditions that slow it down further, each by a factor in millionths, in the order of the
  /// file.
  package var conditions: [Condition]
  package var costs: Costs

  package struct Condition: Hashable, Sendable {
    package var name: String
    package var factor: Int64
  }

  /// Nanoseconds on the reference device.
  package struct Costs: Hashable, Sendable {
    /// To reduce one action.
    package var action: Int64 = 0
    /// Added for each element of a batch.
    package var element: Int64 = 0
    /// To reduce an action of a kind, instead of ``action``; by the names of ``ActionKinds``.
    package var actions: [String: Int64] = [:]
    /// To evaluate any view.
    package var view = ViewCost()
    /// Costs of single views, by name, instead of ``view``.
    package var views: [String: ViewCost] = [:]
  }

  package struct ViewCost: Hashable, Sendable {
    /// To evaluate it.
    package var evaluation: Int64 = 0
    /// Added for each element that it puts on the screen.
    package var element: Int64 = 0
    /// Added in the frame in which it appears, for what is created once.
    package var appearance: Int64 = 0
  }
}

/// A device under some conditions. Its name is that of the runs: `iphone-13-mini+low-power`.
package struct Device: Hashable, Sendable {
  package let profile: DeviceProfile
  /// As requested.
  package let name: String
  package let conditions: [String]

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
