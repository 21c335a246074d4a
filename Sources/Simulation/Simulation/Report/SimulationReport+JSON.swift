import HostScreen

extension SimulationReport {
  /// The report as JSON on one line, members in a fixed order, times in milliseconds with three
  /// decimals.
  package var json: String {
    var json = JSONText()
    json.object { json in
      json.string("version", version)
      json.string("scenario", scenario)
      // Beyond 2^53 many readers of JSON lose digits; a seed is a number all the same.
      json.raw("seed", String(seed))
      json.milliseconds("durationMs", duration.nanoseconds)
      json.object("parameters") { json in
        for parameter in parameters { json.string(parameter.key, parameter.value) }
      }
      json.string("digest", digest)
      json.array("runs") { json in for run in runs { run.append(to: &json) } }
      json.array("thresholds") { json in
        for threshold in thresholds {
          json.object { json in
            json.string("text", threshold.text)
            json.string("value", threshold.value)
            json.raw("passed", threshold.passed ? "true" : "false")
            json.array("failures") { json in
              for run in threshold.failures { json.string(nil, run) }
            }
          }
        }
      }
    }
    return json.text
  }
}

extension RunReport {
  fileprivate func append(to json: inout JSONText) {
    json.object { json in
      json.string("device", device)
      json.string("variant", variant)
      json.raw("slowdown", FixedPoint.text(slowdown, decimals: 6, trimmed: true))
      json.integer("refreshRate", refreshRate)
      json.object("events") { json in
        json.integer("received", events.received)
        json.integer("applied", events.applied)
        json.integer("coalesced", events.coalesced)
        json.integer("rejected", events.rejected)
        json.integer("pending", events.pending)
      }
      json.object("faults") { json in
        json.integer("dropped", faults.dropped)
        json.integer("duplicated", faults.duplicated)
        json.integer("delayed", faults.delayed)
      }
      json.integer("actions", actions)
      json.integer("frames", frames)
      json.integer("turns", turns)
      json.integer("microhangs", microhangs)
      json.integer("hangs", hangs)
      json.milliseconds("longestMs", longest)
      json.milliseconds("hitchMsPerSecond", hitchPerSecond)
      json.raw("busyPercent", FixedPoint.text(Int64(busyShare), decimals: 1))
      latency.append("latencyMs", to: &json)
      service.append("serviceMs", to: &json)
      json.array("views") { json in for view in views { view.append(to: &json) } }
      json.array("longestTurns") { json in for turn in longestTurns { turn.append(to: &json) } }
      json.object("timeline") { json in
        json.milliseconds("bucketMs", bucket)
        json.array("longestMs") { json in for turn in timeline { json.milliseconds(nil, turn) } }
      }
      json.string("digest", Digest.text(digest))
    }
  }
}

extension Percentiles {
  fileprivate func append(_ name: String, to json: inout JSONText) {
    json.object(name) { json in
      json.milliseconds("p50", p50)
      json.milliseconds("p95", p95)
      json.milliseconds("p99", p99)
      json.milliseconds("max", max)
    }
  }
}

extension ViewReport {
  fileprivate func append(to json: inout JSONText) {
    json.object { json in
      json.string("name", name)
      json.integer("evaluations", evaluations)
      json.integer("avoidable", avoidable)
      json.milliseconds("meanMs", mean)
      json.milliseconds("selfMs", selfMean)
      json.milliseconds("p95Ms", p95)
      json.milliseconds("maxMs", max)
      json.array("causes") { json in
        for cause in causes {
          json.object { json in
            json.string("kind", cause.kind)
            if let action = cause.action { json.string("action", action) }
            if let field = cause.field { json.string("field", field) }
            json.integer("count", cause.count)
          }
        }
      }
    }
  }
}

extension TurnReport {
  fileprivate func append(to json: inout JSONText) {
    json.object { json in
      json.milliseconds("atMs", start)
      json.milliseconds("durationMs", length)
      json.string("class", hangClass)
      if let action {
        json.string("action", action)
        json.milliseconds("actionMs", actionCost)
      }
      if let view {
        json.string("view", view)
        json.milliseconds("viewMs", viewCost)
      }
      json.milliseconds("appearanceMs", appearanceCost)
    }
  }
}
