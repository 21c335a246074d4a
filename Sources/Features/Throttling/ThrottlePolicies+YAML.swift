import RateLimiting
package import YAMLReader

extension ThrottledKind {
  /// The key in configuration files and scenarios, such as `throttle.chat`.
  package var key: String { "throttle.\(rawValue)" }
}

extension ThrottlePolicies {
  /// Sets the policy of a kind from a file: either an interval alone, or the keys of a policy. An
  /// error names the affected key and a remedy. After an error, the policy is unchanged.
  ///
  ///     throttle:
  ///       chat: 50ms
  ///       viewers: {interval: 0.2s, maximum-staleness: 1s}
  package mutating func set(
    _ kind: ThrottledKind, _ node: YAMLNode
  ) throws(ConfigurationError) {
    var description = PolicyDescription(kind.limitClass)
    var keys: YAMLMapping?
    if node.scalar != nil {
      description.interval = try node.throttleInterval()
    } else {
      let mapping = try YAMLMapping(
        node, known: PolicyDescription.Key.allCases.map(\.rawValue), example: "{interval: 50ms}")
      try description.read(mapping)
      keys = mapping
    }
    do throws(Refusal) {
      try set(kind, description)
    } catch {
      throw (keys?[error.key.rawValue] ?? node).problem(error.message)
    }
  }

  /// The keyword for an interval of one frame.
  package static let frameWord = "frame"
}

extension PolicyDescription {
  fileprivate mutating func read(_ keys: YAMLMapping) throws(ConfigurationError) {
    if let value = keys[Key.limitClass.rawValue] {
      limitClass = try value.choice(LimitClass.allCases.map { ($0.rawValue, $0) })
    }
    interval = try keys[Key.interval.rawValue]?.throttleInterval()
    maximumStaleness = try keys[Key.maximumStaleness.rawValue]?.throttleInterval()
    capacity = try keys[Key.capacity.rawValue]?.integer(in: 0...Int.max)
    leading = try keys[Key.leading.rawValue]?.boolean()
    trailing = try keys[Key.trailing.rawValue]?.boolean()
  }
}

extension YAMLNode {
  fileprivate func throttleInterval() throws(ConfigurationError) -> Interval {
    try interval(or: (ThrottlePolicies.frameWord, ThrottlePolicies.frame), unit: "ms")
  }
}
