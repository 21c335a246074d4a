import HangSimulation
import YAMLReader

extension Fault {
  /// The maximum number of faults. It is limited because every event passes through all faults, and
  /// some faults duplicate events.
  private static let limit = 64
  private static let kinds = ["stall", "burst", "reorder", "duplicate", "drop", "reconnect"]

  static func read(_ cell: YAMLNode?, duration: VirtualTime) throws(ConfigurationError) -> [Fault] {
    guard let cell else { return [] }
    var faults: [Fault] = []
    let cells = try cell.list()
    if cells.count > limit { throw cell.problem("lists more than \(limit) faults") }
    for cell in cells {
      let section = try YAMLMapping(
        cell, known: ["kind", "at", "for", "times", "by", "share", "replay"])
      let name = try section.required("kind").choice(kinds.map { ($0, $0) })
      let start = try section.required("at").duration()
      let length = try section.required("for").duration(positive: true)
      guard start < duration else {
        throw section.problem(at: "at", "is after the end of the scenario")
      }
      let fault = Fault(
        kind: try kind(name, section), start: start, end: start + length)
      for other in faults
      where other.kind.name == name && other.start < fault.end && fault.start < other.end {
        throw section.problem(at: "at", "two faults of the kind \(name) overlap")
      }
      faults.append(fault)
    }
    return faults
  }

  private static func kind(_ name: String, _ section: YAMLMapping) throws(ConfigurationError)
    -> Kind
  {
    let own =
      switch name {
      case "burst": "times"
      case "reorder": "by"
      case "duplicate", "drop": "share"
      case "reconnect": "replay"
      default: ""
      }
    try section.refuse(
      ["times", "by", "share", "replay"].filter { $0 != own },
      because: "does not apply to the kind \(name)")
    switch name {
    case "burst": return .burst(times: try section["times"]?.integer(in: 2...1_000_000) ?? 10)
    case "reorder":
      return .reorder(by: try section["by"]?.duration(positive: true) ?? .milliseconds(400))
    case "duplicate": return .duplicate(share: try section["share"]?.share() ?? 100)
    case "drop": return .drop(share: try section["share"]?.share() ?? 1_000)
    case "reconnect": return .reconnect(replay: try section["replay"]?.duration() ?? .seconds(2))
    default: return .stall
    }
  }
}
