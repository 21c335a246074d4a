import HangSimulation
import Wording
import YAMLReader

/// Reads the section `events` of a scenario.
struct SourceReader {
  private static let keys =
    [
      "recording", "generate", "event", "at", "from", "speed", "arrival", "rate", "stages", "size",
      "within", "late", "lateBy",
    ] + GeneratedType.keys

  private let options: SimulationOptions
  /// The end of the scenario. Later events are errors.
  private let end: VirtualTime

  init(_ options: SimulationOptions, end: VirtualTime) {
    self.options = options
    self.end = end
  }

  func sources(_ cell: YAMLNode) throws(ConfigurationError) -> [SourceDescription] {
    let cells = try cell.list()
    if cells.isEmpty { throw cell.problem("lists no sources of events") }
    if cells.count > SourceDescription.limit {
      throw cell.problem(
        "lists more than \(Format.count(SourceDescription.limit)) sources of events")
    }
    var sources: [SourceDescription] = []
    var bytesLeft = options.recordingLimit
    for cell in cells {
      sources.append(try source(YAMLMapping(cell, known: Self.keys), &bytesLeft))
    }
    return sources
  }

  /// - Parameter bytesLeft: The remaining limit for recordings, in bytes.
  private func source(
    _ section: YAMLMapping, _ bytesLeft: inout Int
  ) throws(ConfigurationError) -> SourceDescription {
    let origins = ["recording", "generate", "event"].filter { section[$0] != nil }
    guard let origin = origins.first else {
      throw section.problem(at: nil, "needs 'recording', 'generate', or 'event'")
    }
    if origins.count > 1 {
      throw section.problem(at: origins[1], "contradicts '\(origin)'; use only one of them")
    }
    if let recording = section["recording"] {
      try section.refuse(
        section.names.filter { !["recording", "at", "speed"].contains($0) },
        because: "does not apply to a recording, which has its own times and events")
      return .recorded(try self.recording(recording, section, &bytesLeft))
    }
    try section.refuse(["speed"], because: "applies only to recordings; use 'rate' instead")
    let pattern = try PayloadPattern(section)
    return .generated(pattern, try arrivals(section), try batch(section, pattern))
  }

  private func recording(
    _ cell: YAMLNode, _ section: YAMLMapping, _ bytesLeft: inout Int
  ) throws(ConfigurationError) -> SourceDescription.Recorded {
    let name = try cell.text()
    guard let bytes = options.files.recording(name, scenario: options.path) else {
      throw cell.problem("there is no file '\(name)'")
    }
    let start = try section["at"].map(moment) ?? .zero
    let speed = try section["speed"]?.factor(atLeast: 1_000) ?? 1_000_000
    do throws(RecordingProblem) {
      return try RecordedSource(start: start, speed: speed).read(bytes, limit: &bytesLeft)
    } catch {
      throw cell.problem("'\(name)' \(error.message)")
    }
  }

  private func arrivals(_ section: YAMLMapping) throws(ConfigurationError) -> Arrivals.Plan {
    if let at = section["at"] {
      try section.refuse(
        ["arrival", "rate", "stages", "from"], because: "contradicts 'at', which sets the times")
      return .listed(try times(at))
    }
    let pattern: Arrivals.Pattern =
      try section["arrival"]?.choice([("poisson", .poisson), ("even", .even)]) ?? .poisson
    let start = try section["from"]?.duration() ?? .zero
    if let rate = section["rate"] {
      try section.refuse(["stages"], because: "contradicts 'rate'; use only one of them")
      return .staged(pattern, from: start, [Arrivals.Stage(rate: try rate.rate(), length: nil)])
    }
    guard let stages = section["stages"] else {
      throw section.problem(at: nil, "needs 'rate', 'stages', or 'at' (individual times)")
    }
    var read: [Arrivals.Stage] = []
    for cell in try stages.list() {
      let stage = try YAMLMapping(cell, known: ["rate", "for"])
      read.append(
        Arrivals.Stage(
          rate: try stage.required("rate").rate(),
          length: try stage.required("for").duration(positive: true)))
    }
    if read.isEmpty { throw stages.problem("lists no stages") }
    return .staged(pattern, from: start, read)
  }

  private func moment(_ cell: YAMLNode) throws(ConfigurationError) -> VirtualTime {
    let time = try cell.duration()
    if end < time { throw cell.problem("is after the end of the scenario") }
    return time
  }

  private func times(_ at: YAMLNode) throws(ConfigurationError) -> [VirtualTime] {
    var times: [VirtualTime] = []
    for cell in try at.list(orOne: true) {
      let time = try moment(cell)
      if let last = times.last, time < last { throw cell.problem("is before the previous time") }
      times.append(time)
    }
    if times.isEmpty { throw at.problem("lists no times") }
    return times
  }

  private func batch(
    _ section: YAMLMapping, _ pattern: PayloadPattern
  ) throws(ConfigurationError) -> SourceDescription.Batch {
    var batch = SourceDescription.Batch()
    if !pattern.isSized {
      try section.refuse(
        ["size", "within"], because: "does not apply to this type: it generates a sequence")
    }
    if let size = section["size"] {
      batch.size = try size.integer(in: 1...SourceDescription.Batch.limit)
    }
    if let within = section["within"] {
      if batch.size == 1 { throw within.problem("has no effect on a single event; set 'size'") }
      batch.within = try within.duration()
    }
    if let late = section["late"] { batch.lateShare = try late.share() }
    if let by = section["lateBy"] {
      if batch.lateShare == 0 { throw by.problem("has no effect without 'late'") }
      batch.lateBy = try by.duration(positive: true)
    }
    return batch
  }
}
