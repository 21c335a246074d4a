package import RateLimiting

/// How long events of each kind may wait: without load, and at most under load.
package struct ThrottlePolicies: Hashable, Sendable {
  package struct Pacing: Hashable, Sendable {
    /// The interval while frames are cheap.
    package var interval: Interval
    /// The longest interval, which bounds the staleness.
    package var maximumStaleness: Interval
    /// The number of events at which a batch is delivered early.
    package var capacity: Int

    /// - Parameter maximumStaleness: The longest interval, or `nil` for a constant interval.
    package init(
      interval: Interval, maximumStaleness: Interval? = nil, capacity: Int = defaultCapacity
    ) {
      self.interval = interval
      self.maximumStaleness = maximumStaleness ?? interval
      self.capacity = capacity
    }

    package var adaptive: AdaptiveInterval {
      AdaptiveInterval(
        wanted: interval, maximum: maximumStaleness, budgetPerMille: ThrottlePolicies.budgetPerMille
      )
    }
  }

  /// The share of time that frames may take before intervals widen, in thousandths.
  package static let budgetPerMille: Int64 = 250
  package static let frame = Interval.nanoseconds(16_666_667)

  private var pacings: [ThrottledKind: Pacing] = [:]

  package init() {}

  /// Creates policies that are the default policies, except for the given kinds.
  package init(_ pacings: [ThrottledKind: Pacing]) {
    for (kind, pacing) in pacings { self[kind] = pacing }
  }

  /// The policy of a kind. The setter does not validate; ``set(_:_:)`` validates configuration.
  package subscript(kind: ThrottledKind) -> Pacing {
    get { pacings[kind] ?? Self.defaultPacing(kind) }
    set { pacings[kind] = newValue == Self.defaultPacing(kind) ? nil : newValue }
  }

  package static let defaultCapacity = 8_192

  /// Sets the policy of a kind from `description`. Without an interval, the times of
  /// ``defaultPacing(_:)`` are used. An interval without a bound does not widen. Throws
  /// ``Refusal``, and changes nothing, if the description contradicts itself or the class of the
  /// kind.
  package mutating func set(
    _ kind: ThrottledKind, _ description: PolicyDescription
  ) throws(Refusal) {
    guard description.limitClass == kind.limitClass else {
      throw Refusal(
        key: .limitClass,
        message:
          "contradicts the class of \(kind.rawValue), which is \(kind.limitClass.rawValue); "
          + "remove it")
    }
    let defaultPacing = Self.defaultPacing(kind)
    var complete = description
    if complete.interval == nil, kind.limitClass != .progress {
      complete.interval = defaultPacing.interval
      complete.maximumStaleness = description.maximumStaleness ?? defaultPacing.maximumStaleness
    }
    let policy: Policy
    do throws(PolicyError) {
      policy = try complete.validated()
    } catch {
      throw Refusal(key: error.key, message: "\(error.problem); \(error.remedy)")
    }
    try refuseUnused(description)
    var pacing = Pacing(policy) ?? defaultPacing
    pacing.capacity = description.capacity ?? defaultPacing.capacity
    self[kind] = pacing
  }

  /// Rejects keys that are valid but have no effect, because their author expects an effect.
  private func refuseUnused(_ description: PolicyDescription) throws(Refusal) {
    if description.leading == false {
      throw Refusal(
        key: .leading,
        message: "the first value after a pause always passes immediately; remove this key")
    }
    if description.capacity != nil, description.limitClass != .keepAll {
      throw Refusal(
        key: .capacity, message: "is fixed for \(description.limitClass.rawValue); remove it")
    }
  }

  /// The reason why a policy is invalid: the affected key, and a remedy.
  package struct Refusal: Error, Equatable {
    package let key: PolicyDescription.Key
    package let message: String
  }
}

extension ThrottlePolicies.Pacing {
  /// The times of a policy, or `nil` for a policy of events that never wait.
  fileprivate init?(_ policy: Policy) {
    switch policy {
    case .keepAll(let window, let capacity):
      self.init(
        interval: window.interval, maximumStaleness: window.maximumStaleness, capacity: capacity)
    case .latestWins(let window, _, let keys), .aggregate(let window, let keys):
      self.init(
        interval: window.interval, maximumStaleness: window.maximumStaleness, capacity: keys)
    case .summary(let window):
      self.init(interval: window.interval, maximumStaleness: window.maximumStaleness, capacity: 1)
    case .progress(let interval):
      self.init(interval: interval, maximumStaleness: interval, capacity: 1)
    case .neverDrop:
      return nil
    }
  }
}
