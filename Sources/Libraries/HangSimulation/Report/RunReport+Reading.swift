package import JSON
import ViewGraph

extension RunReport {
  /// Reads a run of a report file, without individual turns, causes, and the timeline; `nil` if
  /// `json` is not a run. If the report of another version lacks a figure, the figure counts as not
  /// measured.
  package init?(json: JSONValue) {
    guard let device = json["device"]?.stringValue, let variant = json["variant"]?.stringValue
    else { return nil }
    func count(_ name: String) -> Int { json[name]?.count ?? 0 }
    let events = json["events"]
    func total(_ name: String) -> Int { events?[name]?.count ?? 0 }
    let received = total("received")
    self.init(
      device: device, variant: variant,
      slowdown: Int64(((json["slowdown"]?.double ?? 1) * 1e6).rounded()),
      refreshRate: count("refreshRate"),
      events: EventTotals(
        received: received, coalesced: total("coalesced"), rejected: total("rejected"),
        pending: total("pending")),
      faults: FaultCounts(), effects: (json["effects"]?.arrayValue ?? []).map(EffectReport.init),
      actions: count("actions"), frames: count("frames"), turns: count("turns"),
      microhangs: count("microhangs"), hangs: count("hangs"),
      longest: json["longestMs"]?.nanoseconds ?? 0,
      hitchPerSecond: json["hitchMsPerSecond"]?.nanoseconds ?? 0,
      busyShare: Int(((json["busyPercent"]?.double ?? 0) * 10).rounded()),
      latency: Percentiles(json["latencyMs"], count: received),
      service: Percentiles(json["serviceMs"], count: received),
      frame: Percentiles(json["frameMs"], count: count("frames")),
      frozenFrames: count("frozenFrames"),
      views: (json["views"]?.arrayValue ?? []).map(ViewReport.init), longestTurns: [], bucket: 1,
      timeline: [], arrivals: [], faultWindows: [], digest: 0,
      measuredCosts: json["costs"]?["measured"]?.count ?? 0,
      assumedCosts: json["costs"]?["assumed"]?.count ?? 0, turnRecord: nil)
  }
}

extension Percentiles {
  /// Reads percentiles. A missing object means that there were no durations.
  fileprivate init(_ json: JSONValue?, count: Int) {
    func time(_ name: String) -> Int64 { json?[name]?.nanoseconds ?? 0 }
    (p50, p95, p99, max) = (time("p50"), time("p95"), time("p99"), time("max"))
    self.count = json == nil ? 0 : count
  }
}

extension EffectReport {
  fileprivate init(_ json: JSONValue) {
    name = json["name"]?.stringValue ?? "?"
    started = json["started"]?.count ?? 0
    failed = json["failed"]?.count ?? 0
    abandoned = json["abandoned"]?.count ?? 0
    answered = Percentiles(json["answeredMs"], count: json["answered"]?.count ?? started)
    queued = Percentiles(json["queuedMs"], count: started)
  }
}

extension ViewReport {
  fileprivate init(_ json: JSONValue) {
    name = json["name"]?.stringValue ?? "?"
    evaluations = json["evaluations"]?.count ?? 0
    avoidable = json["avoidable"]?.count ?? 0
    mean = json["meanMs"]?.nanoseconds ?? 0
    selfMean = json["selfMs"]?.nanoseconds ?? 0
    p95 = json["p95Ms"]?.nanoseconds ?? 0
    max = json["maxMs"]?.nanoseconds ?? 0
    causes = []
  }
}

extension JSONValue {
  /// The value of an integer or floating-point number.
  var double: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .number(let number): number
    case .null, .bool, .string, .array, .object: nil
    }
  }

  fileprivate var count: Int? { double.flatMap(Int.init(exactly:)) }

  /// This number of milliseconds, converted to nanoseconds.
  fileprivate var nanoseconds: Int64? {
    guard let double, abs(double) < 1e12 else { return nil }
    return Int64((double * 1e6).rounded())
  }
}
