import YAMLReader

/// Something that goes wrong on the way from the sources to the screen.
struct Fault: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    /// Nothing arrives for a while; then everything that was held up arrives at once.
    case stall
    /// Events of the window come this many times as fast, starting at its beginning.
    case burst(times: Int)
    /// Each event is late by up to this time.
    case reorder(by: VirtualTime)
    /// A share of the events, in thousandths, arrives twice, the second time up to half a second
    /// later.
    case duplicate(share: Int64)
    /// A share of the events is lost.
    case drop(share: Int64)
    /// The connection is lost for a while. Afterwards the missed events arrive, and those delivered
    /// during `replay` before the loss arrive again.
    case reconnect(replay: VirtualTime)

    var name: String {
      switch self {
      case .stall: "stall"
      case .burst: "burst"
      case .reorder: "reorder"
      case .duplicate: "duplicate"
      case .drop: "drop"
      case .reconnect: "reconnect"
      }
    }
  }

  var kind: Kind
  var start: VirtualTime
  /// The first instant after it.
  var end: VirtualTime

  func covers(_ time: VirtualTime) -> Bool { start <= time && time < end }
}

extension Fault {
  private static let kinds = ["stall", "burst", "reorder", "duplicate", "drop", "reconnect"]

  static func read(_ cell: YAMLNode?, duration: VirtualTime) throws(ConfigurationError) -> [Fault] {
    guard let cell else { return [] }
    var faults: [Fault] = []
    for cell in try cell.list() {
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
