import Intake
import RateLimiting
import Suggestions
import Yams

extension ConfigurationKey {
  /// The key that says how long the events of a kind may wait.
  static func throttling(_ kind: ThrottledKind) -> ConfigurationKey {
    ConfigurationKey(
      path: "throttle.\(kind.rawValue)",
      meaning: "\(kind.meaning): \(kind.limitClass.promise).", standard: standardText(kind)
    ) { node, configuration throws(ConfigurationProblem) in
      let (description, lines) = try describe(node, kind)
      do throws(ThrottlePolicies.Refusal) {
        try configuration.rooms.throttling.set(kind, description)
      } catch {
        let name = error.key.rawValue
        throw ConfigurationProblem(
          message: error.message, key: lines[name] == nil ? nil : name, line: lines[name])
      }
    }
  }

  private static func standardText(_ kind: ThrottledKind) -> String {
    let standard = ThrottlePolicies.standard(kind)
    let interval = standard.interval == ThrottlePolicies.frame ? "frame" : standard.interval.text
    guard standard.maximumStaleness > standard.interval else { return "{interval: \(interval)}" }
    return "{interval: \(interval), maximum-staleness: \(standard.maximumStaleness.text)}"
  }

  /// What is written, and the line of each key.
  private static func describe(
    _ node: Node, _ kind: ThrottledKind
  ) throws(ConfigurationProblem) -> (PolicyDescription, lines: [String: Int]) {
    guard let mapping = node.mapping else {
      throw ConfigurationProblem(message: "expected keys and values, such as {interval: 50ms}")
    }
    var description = PolicyDescription(kind.limitClass)
    var lines: [String: Int] = [:]
    for (keyNode, value) in mapping {
      let name = keyNode.string ?? "?"
      let line = keyNode.mark?.line
      lines[name] = line
      func problem(_ message: String) -> ConfigurationProblem {
        ConfigurationProblem(message: message, key: name, line: line)
      }
      switch PolicyDescription.Key(rawValue: name) {
      case .limitClass:
        do throws(PolicyError) {
          description.limitClass = try LimitClass(named: value.string ?? "?")
        } catch {
          throw problem("\(error.problem); \(error.remedy)")
        }
      case .interval:
        guard let time = Interval(text: value.string) else { throw problem(Interval.expected) }
        description.interval = time
      case .maximumStaleness:
        guard let time = Interval(text: value.string) else { throw problem(Interval.expected) }
        description.maximumStaleness = time
      case .capacity:
        guard let capacity = value.int else { throw problem("expected a whole number") }
        description.capacity = capacity
      case .leading:
        guard let leading = value.bool else { throw problem("expected true or false") }
        description.leading = leading
      case .trailing:
        guard let trailing = value.bool else { throw problem("expected true or false") }
        description.trailing = trailing
      case nil:
        let known = PolicyDescription.Key.allCases.map(\.rawValue)
        let hint = Spelling.nearest(to: name, among: known).map { "; did you mean \($0)?" }
        throw problem("unknown key\(hint ?? "")")
      }
    }
    return (description, lines)
  }
}

extension LimitClass {
  /// What becomes of events that come too often.
  fileprivate var promise: String {
    switch self {
    case .neverDrop: "at once"
    case .keepAll: "all are kept, one batch per interval"
    case .latestWins: "the newest one per interval"
    case .summary: "extremes and means per interval"
    case .progress: "one per interval"
    case .aggregate: "exact sums per interval"
    }
  }
}

extension Interval {
  static let expected = "expected a time such as 50ms, 2s or frame"

  /// Reads `50ms`, `1500us`, `2s`, or `frame`.
  fileprivate init?(text: String?) {
    guard let text else { return nil }
    if text == "frame" {
      self = ThrottlePolicies.frame
      return
    }
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard let count = Int64(digits) else { return nil }
    switch text.dropFirst(digits.count) {
    case "us": self = .microseconds(count)
    case "ms": self = .milliseconds(count)
    case "s": self = .seconds(count)
    default: return nil
    }
  }

  /// As it is read.
  fileprivate var text: String {
    if nanoseconds % 1_000_000_000 == 0 { return "\(nanoseconds / 1_000_000_000)s" }
    if nanoseconds % 1_000_000 == 0 { return "\(nanoseconds / 1_000_000)ms" }
    return "\(nanoseconds / 1_000)us"
  }
}
