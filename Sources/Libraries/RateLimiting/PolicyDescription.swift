/// A policy as written in a file: a class and its settings, not validated yet.
///
/// Each class accepts these keys:
///
/// | class | `interval` | `maximum-staleness` | `capacity` | `leading`, `trailing` |
/// | --- | --- | --- | --- | --- |
/// | never-drop | - | - | - | - |
/// | keep-all | required | optional | elements per batch | - |
/// | latest-wins | required | optional | keys | optional |
/// | summary | required | optional | - | - |
/// | progress | optional, 1 s and more | - | - | - |
/// | aggregate | required | optional | keys | - |
public struct PolicyDescription: Hashable, Sendable {
  /// The names of the keys in configuration files.
  public enum Key: String, Hashable, Sendable, CaseIterable {
    case limitClass = "class"
    case interval
    case maximumStaleness = "maximum-staleness"
    case capacity
    case leading
    case trailing
  }

  /// The class of the limiter.
  public var limitClass: LimitClass
  /// The length of a window.
  public var interval: Interval?
  /// The maximum to which the interval may widen under load; nil means that it does not widen.
  public var maximumStaleness: Interval?
  /// The maximum number of elements in a batch, or of keys; nil means ``defaultCapacity``.
  public var capacity: Int?
  /// Whether the first value after a rest is delivered immediately; nil means yes.
  public var leading: Bool?
  /// Whether the last value of a window is delivered at its end. Only true is accepted. The key
  /// exists so that an error can explain why the trailing edge cannot be turned off.
  public var trailing: Bool?

  /// The default capacity.
  public static let defaultCapacity = 4_096
  /// The maximum capacity, which limits memory.
  public static let capacityLimit = 1_048_576
  /// The longest interval. A value that is held for longer is useless to viewers.
  public static let intervalLimit = Interval.seconds(3_600)
  /// The shortest interval for progress with an unknown total.
  public static let shortestProgressInterval = Interval.seconds(1)

  /// Describes a policy; nil means that a key is not set.
  public init(
    _ limitClass: LimitClass, interval: Interval? = nil, maximumStaleness: Interval? = nil,
    capacity: Int? = nil, leading: Bool? = nil, trailing: Bool? = nil
  ) {
    self.limitClass = limitClass
    self.interval = interval
    self.maximumStaleness = maximumStaleness
    self.capacity = capacity
    self.leading = leading
    self.trailing = trailing
  }

  /// Returns whether a key is set.
  public func sets(_ key: Key) -> Bool {
    switch key {
    case .limitClass: true
    case .interval: interval != nil
    case .maximumStaleness: maximumStaleness != nil
    case .capacity: capacity != nil
    case .leading: leading != nil
    case .trailing: trailing != nil
    }
  }

  /// Returns the policy, if the description is consistent.
  ///
  /// - Throws: ``PolicyError`` for the first contradiction, in the order of ``Key``.
  public func validated() throws(PolicyError) -> Policy {
    for key in Key.allCases where sets(key) && !limitClass.keys.contains(key) {
      throw .notApplicable(key, limitClass)
    }
    switch limitClass {
    case .neverDrop: return .neverDrop
    case .keepAll: return .keepAll(try window(), capacity: try checkedCapacity())
    case .latestWins:
      let window = try window()
      let keys = try checkedCapacity()
      guard trailing ?? true else { throw .noTrailingEdge }
      return .latestWins(window, leading: leading ?? true, keyCapacity: keys)
    case .summary: return .summary(try window())
    case .progress: return .progress(interval: try progressInterval())
    case .aggregate: return .aggregate(try window(), keyCapacity: try checkedCapacity())
    }
  }
}

extension PolicyDescription {
  private func window() throws(PolicyError) -> Policy.Window {
    guard let interval else { throw .missing(.interval, limitClass) }
    try check(interval, .interval)
    guard let bound = maximumStaleness else {
      return Policy.Window(interval: interval, maximumStaleness: interval)
    }
    try check(bound, .maximumStaleness)
    guard bound >= interval else {
      throw .stalenessBelowInterval(bound: bound, interval: interval)
    }
    return Policy.Window(interval: interval, maximumStaleness: bound)
  }

  private func check(_ value: Interval, _ key: Key) throws(PolicyError) {
    guard value > .zero else { throw .notPositive(key) }
    guard value <= Self.intervalLimit else { throw .intervalTooLong(key, value) }
  }

  private func progressInterval() throws(PolicyError) -> Interval {
    guard let interval else { return Self.shortestProgressInterval }
    try check(interval, .interval)
    guard interval >= Self.shortestProgressInterval else {
      throw .progressTooFrequent(interval)
    }
    return interval
  }

  private func checkedCapacity() throws(PolicyError) -> Int {
    let value = capacity ?? Self.defaultCapacity
    guard value > 0 else { throw .notPositive(.capacity) }
    guard value <= Self.capacityLimit else { throw .capacityTooLarge(value) }
    return value
  }
}

extension LimitClass {
  /// The keys that the class accepts.
  var keys: Set<PolicyDescription.Key> {
    switch self {
    case .neverDrop: [.limitClass]
    case .keepAll, .aggregate: [.limitClass, .interval, .maximumStaleness, .capacity]
    case .latestWins: Set(PolicyDescription.Key.allCases)
    case .summary: [.limitClass, .interval, .maximumStaleness]
    case .progress: [.limitClass, .interval]
    }
  }
}
