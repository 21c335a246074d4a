/// The reason why a policy is invalid, with the key, the problem and the remedy.
public enum PolicyError: Error, Hashable, Sendable {
  /// No class has this name.
  case unknownClass(String)
  /// The class requires the key.
  case missing(PolicyDescription.Key, LimitClass)
  /// The key has no effect for the class, so setting it is probably a mistake.
  case notApplicable(PolicyDescription.Key, LimitClass)
  /// The value must be above zero.
  case notPositive(PolicyDescription.Key)
  /// The value is above ``PolicyDescription/intervalLimit``.
  case intervalTooLong(PolicyDescription.Key, Interval)
  /// The value is above ``PolicyDescription/capacityLimit``.
  case capacityTooLarge(Int)
  /// Without a trailing edge the last value would never arrive.
  case noTrailingEdge
  /// The maximum staleness is below the interval, so every window would exceed it.
  case stalenessBelowInterval(bound: Interval, interval: Interval)
  /// Progress with an unknown total is delivered at most once per second.
  case progressTooFrequent(Interval)

  /// The key that must be changed.
  public var key: PolicyDescription.Key {
    switch self {
    case .unknownClass: .limitClass
    case .missing(let key, _), .notApplicable(let key, _), .notPositive(let key): key
    case .intervalTooLong(let key, _): key
    case .capacityTooLarge: .capacity
    case .noTrailingEdge: .trailing
    case .stalenessBelowInterval: .maximumStaleness
    case .progressTooFrequent: .interval
    }
  }

  /// The problem, as a sentence without a full stop.
  public var problem: String {
    switch self {
    case .unknownClass(let name): "there is no throttling class '\(name)'"
    case .missing(_, let limitClass): "the class \(limitClass.rawValue) requires this key"
    case .notApplicable(_, let limitClass):
      "the key does not apply to the class \(limitClass.rawValue)"
    case .notPositive: "the value must be above zero"
    case .intervalTooLong(_, let value):
      "\(value.inMilliseconds) is above \(PolicyDescription.intervalLimit.inMilliseconds)"
    case .capacityTooLarge(let value):
      "\(value) is above \(PolicyDescription.capacityLimit)"
    case .noTrailingEdge: "without a trailing edge the last value would never arrive"
    case .stalenessBelowInterval(let bound, let interval):
      "\(bound.inMilliseconds) is below the interval of \(interval.inMilliseconds)"
    case .progressTooFrequent(let value):
      "\(value.inMilliseconds) is shorter than a second, the minimum while the total is unknown"
    }
  }

  /// The remedy, as a sentence without a full stop.
  public var remedy: String {
    switch self {
    case .unknownClass:
      "use one of " + LimitClass.allCases.map(\.rawValue).joined(separator: ", ")
    case .missing(let key, _): "set \(key.rawValue)"
    case .notApplicable(let key, _): "remove \(key.rawValue), or choose another class"
    case .notPositive(.interval), .notPositive(.maximumStaleness):
      "set a time above zero"
    case .notPositive(let key): "set \(key.rawValue) to 1 or more"
    case .intervalTooLong, .capacityTooLarge: "set a smaller value"
    case .noTrailingEdge: "remove trailing, or set it to true"
    case .stalenessBelowInterval: "raise maximum-staleness or lower interval"
    case .progressTooFrequent:
      "set interval to one second or more (the interval has no effect while the total is known)"
    }
  }
}

extension PolicyError: CustomStringConvertible {
  /// The key, problem and remedy in one line.
  public var description: String { "\(key.rawValue): \(problem); \(remedy)" }
}

extension Interval {
  /// The interval as text for messages; fractions of a microsecond are truncated.
  var inMilliseconds: String {
    let fraction = (nanoseconds / 1_000 % 1_000).magnitude
    let digits = String(fraction)
    guard fraction > 0 else { return "\(nanoseconds / 1_000_000) ms" }
    let padded = String(repeating: "0", count: 3 - digits.count) + digits
    return "\(nanoseconds / 1_000_000).\(padded) ms"
  }
}
