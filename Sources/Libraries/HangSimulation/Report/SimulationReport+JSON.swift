import JSON
import Wording

extension SimulationReport {
  /// The members of the JSON report that are measured on the simulating machine, and the only
  /// members that may differ between two runs of a seed.
  package static let measuredMembers = ["growth", "laneHolds", "measured", "measuredFindings"]

  /// The report as one line of JSON: a fixed order, and times in ms with three decimals.
  public var json: String {
    JSONWriter.text { json in
      json.add("version", version)
      json.add("scenario", scenario)
      // The seed is written as a number, although many JSON readers lose digits beyond 2^53.
      json.addJSON("seed", String(seed))
      json.addMilliseconds("durationMs", duration.nanoseconds)
      json.addObject("parameters") { json in
        for parameter in parameters {
          json.name(text: parameter.key)
          json.append(parameter.value)
        }
      }
      json.add("digest", digest)
      json.addObjects("runs", runs) { $0.addMembers(to: &$1) }
      json.addObjects("thresholds", thresholds) { $0.addMembers(to: &$1) }
      addFindings(to: &json)
      json.addObjects("growth", growth) { $0.addMembers(to: &$1) }
      if !measured.isEmpty { json.addObjects("measured", measured) { $0.addMembers(to: &$1) } }
      json.addObjects("laneHolds", laneHolds) { $0.addMembers(to: &$1) }
    }
  }
}

extension RunReport {
  fileprivate func addMembers(to json: inout JSONWriter) {
    json.add("device", device)
    json.add("variant", variant)
    json.addJSON("slowdown", FixedPoint.text(slowdown, decimals: 6, trimmed: true))
    json.add("refreshRate", refreshRate)
    json.addObject("costs") { json in
      json.add("measured", measuredCosts)
      json.add("assumed", assumedCosts)
    }
    json.addObject("events") { json in
      json.add("received", events.received)
      json.add("applied", events.applied)
      json.add("coalesced", events.coalesced)
      json.add("rejected", events.rejected)
      json.add("pending", events.pending)
    }
    json.addObject("faults") { json in
      json.add("dropped", faults.dropped)
      json.add("duplicated", faults.duplicated)
      json.add("delayed", faults.delayed)
    }
    if !effects.isEmpty { json.addObjects("effects", effects) { $0.addMembers(to: &$1) } }
    json.add("actions", actions)
    json.add("frames", frames)
    json.add("turns", turns)
    json.add("microhangs", microhangs)
    json.add("hangs", hangs)
    json.addMilliseconds("longestMs", longest)
    json.addMilliseconds("hitchMsPerSecond", hitchPerSecond)
    json.addJSON("busyPercent", FixedPoint.text(Int64(busyShare), decimals: 1))
    frame.append("frameMs", to: &json)
    json.add("frozenFrames", frozenFrames)
    latency.append("latencyMs", to: &json)
    service.append("serviceMs", to: &json)
    json.addObjects("views", views) { $0.addMembers(to: &$1) }
    json.addObjects("longestTurns", longestTurns) { $0.addMembers(to: &$1) }
    json.addObject("timeline") { json in
      json.addMilliseconds("bucketMs", bucket)
      json.addArray("longestMs") { json in
        for turn in timeline { json.appendMilliseconds(turn) }
      }
      json.addArray("events") { json in
        for count in arrivals { json.appendJSON(String(count)) }
      }
    }
    if !faultWindows.isEmpty {
      json.addObjects("faultWindows", faultWindows) { $0.addMembers(to: &$1) }
    }
    json.add("digest", Digest.text(digest))
  }
}

extension FaultWindow {
  fileprivate func addMembers(to json: inout JSONWriter) {
    json.add("kind", kind)
    json.addMilliseconds("startMs", start)
    json.addMilliseconds("endMs", end)
  }
}

extension Percentiles {
  fileprivate func append(_ name: StaticString, to json: inout JSONWriter) {
    json.addObject(name) { json in
      json.addMilliseconds("p50", p50)
      json.addMilliseconds("p95", p95)
      json.addMilliseconds("p99", p99)
      json.addMilliseconds("max", max)
    }
  }
}

extension EffectReport {
  fileprivate func addMembers(to json: inout JSONWriter) {
    json.add("name", name)
    json.add("started", started)
    json.add("failed", failed)
    json.add("abandoned", abandoned)
    json.add("answered", answered.count)
    answered.append("answeredMs", to: &json)
    queued.append("queuedMs", to: &json)
  }
}

extension ViewReport {
  fileprivate func addMembers(to json: inout JSONWriter) {
    json.add("name", name)
    json.add("evaluations", evaluations)
    json.add("avoidable", avoidable)
    json.addMilliseconds("meanMs", mean)
    json.addMilliseconds("selfMs", selfMean)
    json.addMilliseconds("p95Ms", p95)
    json.addMilliseconds("maxMs", max)
    json.addObjects("causes", causes) { cause, json in
      json.add("kind", cause.kind)
      json.add("action", cause.action)
      json.add("field", cause.field)
      json.add("count", cause.count)
    }
  }
}

extension TurnReport {
  fileprivate func addMembers(to json: inout JSONWriter) {
    json.addMilliseconds("atMs", start)
    json.addMilliseconds("durationMs", length)
    json.add("class", hangClass)
    if let action {
      json.add("action", action)
      json.addMilliseconds("actionMs", actionCost)
    }
    if let view {
      json.add("view", view)
      json.addMilliseconds("viewMs", viewCost)
    }
    json.addMilliseconds("appearanceMs", appearanceCost)
  }
}

extension JSONWriter {
  /// Returns the text of an object.
  static func text(_ members: (inout JSONWriter) -> Void) -> String {
    var json = JSONWriter()
    json.appendObject(members)
    return String(decoding: json.bytes, as: UTF8.self)
  }

  /// Adds an array with an object for each element.
  mutating func addObjects<Element>(
    _ name: StaticString, _ elements: [Element], _ members: (Element, inout JSONWriter) -> Void
  ) {
    addArray(name) { json in
      for element in elements { json.appendObject { members(element, &$0) } }
    }
  }

  mutating func addTexts(_ name: StaticString, _ texts: [String]) {
    addArray(name) { json in for text in texts { json.append(text) } }
  }

  mutating func addJSON(_ name: StaticString, _ text: String) {
    self.name(name)
    appendJSON(text)
  }

  fileprivate mutating func addMilliseconds(_ name: StaticString, _ nanoseconds: Int64) {
    addJSON(name, FixedPoint.milliseconds(nanoseconds))
  }

  fileprivate mutating func appendMilliseconds(_ nanoseconds: Int64) {
    appendJSON(FixedPoint.milliseconds(nanoseconds))
  }
}
