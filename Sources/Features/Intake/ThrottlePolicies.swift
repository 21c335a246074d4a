package import RateLimiting

/// How long the events of each kind may wait: at rest, and at most under load.
package struct ThrottlePolicies: Hashable, Sendable {
  /// How one kind is thinned.
  package struct Pacing: Hashable, Sendable {
    /// The interval while deliveries are cheap.
    package var interval: Interval
    /// The longest interval, and so the bound of staleness.
    package var maximumStaleness: Interval
    /// The size at which a batch is delivered early.
    package var capacity: Int

    /// - Parameter maximumStaleness: `nil` for an interval that does not widen.
    package init(
      interval: Interval, maximumStaleness: Interval? = nil, capacity: Int = standardCapacity
    ) {
      self.interval = interval
      self.maximumStaleness = maximumStaleness ?? interval
      self.capacity = capacity
    }

    /// The interval as it widens under load.
    package var adaptive: AdaptiveInterval {
      AdaptiveInterval(
        wanted: interval, maximum: maximumStaleness, budgetPerMille: ThrottlePolicies.budgetPerMille
      )
    }
  }

  /// The share of time that frames may take before events wait for longer, in thousandths.
  package static let budgetPerMille: Int64 = 250
  package static let frame = Interval.nanoseconds(16_666_667)

  private var pacings: [ThrottledKind: Pacing] = [:]

  /// What holds where nothing is configured.
  package init() {}

  /// The same, except for these kinds.
  package init(_ pacings: [ThrottledKind: Pacing]) {
    for (kind, pacing) in pacings { self[kind] = pacing }
  }

  /// Setting does not check; ``set(_:_:)`` checks what people wrote.
  package subscript(kind: ThrottledKind) -> Pacing {
    get { pacings[kind] ?? Self.standard(kind) }
    set { pacings[kind] = newValue == Self.standard(kind) ? nil : newValue }
  }

  package static let standardCapacity = 8_192

  /// Sets what `description` says about a kind. Without an interval its times are those of
  /// ``standard(_:)``; an interval without a bound does not widen.
  ///
  /// - Throws: ``Refusal`` if that contradicts itself or the promise of the kind. Nothing is set
  ///   then.
  package mutating func set(
    _ kind: ThrottledKind, _ description: PolicyDescription
  ) throws(Refusal) {
    guard description.limitClass == kind.limitClass else {
      throw Refusal(
        key: .limitClass,
        message:
          "contradicts what \(kind.rawValue) promises, which is \(kind.limitClass.rawValue); "
          + "remove it")
    }
    let standard = Self.standard(kind)
    var complete = description
    if complete.interval == nil, kind.limitClass != .progress {
      complete.interval = standard.interval
      complete.maximumStaleness = description.maximumStaleness ?? standard.maximumStaleness
    }
    let policy: Policy
    do throws(PolicyError) {
      policy = try complete.validated()
    } catch {
      throw Refusal(key: error.key, message: "\(error.problem); \(error.remedy)")
    }
    try refuseUnused(description)
    var pacing = Pacing(policy) ?? standard
    pacing.capacity = description.capacity ?? standard.capacity
    self[kind] = pacing
  }

  /// Refuses keys that are valid and change nothing: whoever wrote them expects an effect.
  private func refuseUnused(_ description: PolicyDescription) throws(Refusal) {
    if description.leading == false {
      throw Refusal(
        key: .leading, message: "the first value after a rest always passes at once; remove it")
    }
    if description.capacity != nil, description.limitClass != .keepAll {
      throw Refusal(
        key: .capacity, message: "is fixed for \(description.limitClass.rawValue); remove it")
    }
  }

  /// Why a policy was refused: the key to look at, and what to do.
  package struct Refusal: Error, Equatable {
    package let key: PolicyDescription.Key
    package let message: String
  }
}

extension ThrottlePolicies.Pacing {
  /// The times of a policy; `nil` for the policy of events that never wait.
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
