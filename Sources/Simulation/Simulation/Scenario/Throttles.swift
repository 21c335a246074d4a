import HostFeature
import Intake
import RateLimiting
import Yams

/// The intervals at which the features' throttles deliver; nil leaves the feature's own.
package struct Throttles: Hashable, Sendable {
  var chat: Interval?
  var waitingRoom: Interval?
  var controls: Interval?
  var reactions: Interval?
  var viewers: Interval?
  var statistics: Interval?
  var progress: Interval?

  /// Names in settings, each with the class that its events have: a promise of the feature, which a
  /// scenario cannot change.
  static let places: [Place] = [
    Place("chat", .keepAll, \.chat), Place("waitingRoom", .keepAll, \.waitingRoom),
    Place("controls", .latestWins, \.controls), Place("reactions", .aggregate, \.reactions),
    Place("viewers", .latestWins, \.viewers), Place("statistics", .summary, \.statistics),
    Place("progress", .progress, \.progress),
  ]

  struct Place: Sendable {
    let name: String
    let limitClass: LimitClass
    let path: any WritableKeyPath<Throttles, Interval?> & Sendable

    init(
      _ name: String, _ limitClass: LimitClass,
      _ path: any WritableKeyPath<Throttles, Interval?> & Sendable
    ) {
      self.name = "throttle.\(name)"
      self.limitClass = limitClass
      self.path = path
    }
  }

  /// A throttle stage with these intervals, none of which widens.
  var intake: HostIntake {
    let intervals: [ThrottledKind: Interval?] = [
      .chat: chat, .waitingRoom: waitingRoom, .controls: controls, .meters: controls,
      .reactions: reactions, .viewers: viewers, .statistics: statistics, .progress: progress,
    ]
    var policies = ThrottlePolicies()
    for kind in ThrottledKind.allCases {
      policies[kind] = ThrottlePolicies.Pacing(
        interval: (intervals[kind] ?? nil) ?? ThrottlePolicies.standard(kind).interval)
    }
    return HostIntake(policies)
  }
}

extension Throttles.Place {
  /// Reads a policy: an interval, or keys and values, which must not contradict each other nor the
  /// class of the events.
  func interval(_ cell: Cell) throws(ScenarioError) -> Interval? {
    guard cell.node.mapping != nil else {
      let interval = Interval(nanoseconds: try cell.duration().nanoseconds)
      return try checked(PolicyDescription(limitClass, interval: interval), nil, cell)
    }
    let section = try Section(cell, known: PolicyDescription.Key.allCases.map(\.rawValue))
    var description = PolicyDescription(limitClass)
    if let named = section["class"] {
      description.limitClass = try named.choice(LimitClass.allCases.map { ($0.rawValue, $0) })
    }
    if let cell = section["interval"] {
      description.interval = Interval(nanoseconds: try cell.duration().nanoseconds)
    }
    if let cell = section["maximum-staleness"] {
      description.maximumStaleness = Interval(nanoseconds: try cell.duration().nanoseconds)
    }
    if let cell = section["capacity"] { description.capacity = try cell.integer(in: 0...Int.max) }
    if let cell = section["leading"] { description.leading = try cell.truth() }
    if let cell = section["trailing"] { description.trailing = try cell.truth() }
    return try checked(description, section, cell)
  }

  private func checked(
    _ description: PolicyDescription, _ section: Section?, _ cell: Cell
  ) throws(ScenarioError) -> Interval? {
    do throws(PolicyError) {
      _ = try description.validated()
    } catch {
      let place = section?[error.key.rawValue] ?? cell
      throw place.problem("\(error.problem); \(error.remedy)")
    }
    if description.limitClass != limitClass, let section {
      throw section.problem(
        at: "class",
        "contradicts what \(name) promises, which is \(limitClass.rawValue); remove it")
    }
    for key in ["maximum-staleness", "capacity", "leading"] {
      if let cell = section?[key] {
        throw cell.problem("cannot be set in a scenario, which takes 'interval'; remove it")
      }
    }
    return description.interval
  }
}
