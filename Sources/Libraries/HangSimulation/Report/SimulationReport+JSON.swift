import JSON
import Wording

extension SimulationReport {
  /// The members of the JSON report that are measured on the simulating machine, and the only
  /// members that may differ between two runs of a seed.
  package static let measuredMembers = ["growth", "laneHolds", "measured", "measuredFindings"]

  /// The report as one line of JSON: a fixed order, and times in ms with three decimals.
  public var json: String {
    var json = JSONWriter()
    json.appendObject { json in
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
      json.addArray("runs") { json in for run in runs { run.append(to: &json) } }
      json.addArray("thresholds") { json in
        for threshold in thresholds { threshold.append(to: &json) }
      }
      addFindings(to: &json)
      json.addArray("growth") { json in for finding in growth { finding.append(to: &json) } }
      if !measured.isEmpty {
        json.addArray("measured") { json in for runs in measured { runs.append(to: &json) } }
      }
      json.addArray("laneHolds") { json in for hold in laneHolds { hold.append(to: &json) } }
    }
    return String(decoding: json.bytes, as: UTF8.self)
  }
}

extension RunReport {
  fileprivate func append(to json: inout JSONWriter) {
    json.appendObject { json in
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
      if !effects.isEmpty {
        json.addArray("effects") { json in for effect in effects { effect.append(to: &json) } }
      }
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
      json.addArray("views") { json in for view in views { view.append(to: &json) } }
      json.addArray("longestTurns") { json in for turn in longestTurns { turn.append(to: &json) } }
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
        json.addArray("faultWindows") { json in
          for window in faultWindows { window.append(to: &json) }
        }
      }
      json.add("digest", Digest.text(digest))
    }
  }
}

extension FaultWindow {
  fileprivate func append(to json: inout JSONWriter) {
    json.appendObject { json in
      json.add("kind", kind)
      json.addMilliseconds("startMs", start)
      json.addMilliseconds("endMs", end)
    }
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
  fileprivate func append(to json: inout JSONWriter) {
    json.appendObject { json in
      json.add("name", name)
      json.add("started", started)
      json.add("failed", failed)
      json.add("abandoned", abandoned)
      json.add("answered", answered.count)
      answered.append("answeredMs", to: &json)
      queued.append("queuedMs", to: &json)
    }
  }
}

extension ViewReport {
  fileprivate func append(to json: inout JSONWriter) {
    json.appendObject { json in
      json.add("name", name)
      json.add("evaluations", evaluations)
      json.add("avoidable", avoidable)
      json.addMilliseconds("meanMs", mean)
      json.addMilliseconds("selfMs", selfMean)
      json.addMilliseconds("p95Ms", p95)
      json.addMilliseconds("maxMs", max)
      json.addArray("causes") { json in
        for cause in causes {
          json.appendObject { json in
            json.add("kind", cause.kind)
            json.add("action", cause.action)
            json.add("field", cause.field)
            json.add("count", cause.count)
          }
        }
      }
    }
  }
}

extension TurnReport {
  fileprivate func append(to json: inout JSONWriter) {
    json.appendObject { json in
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
}

extension JSONWriter {
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
