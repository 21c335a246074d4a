import JSON

extension ThresholdReport {
  func append(to json: inout JSONWriter) {
    json.appendObject { json in
      json.add("text", text)
      json.add("value", value)
      json.add("passed", passed)
      if let skipped { json.add("skipped", skipped) }
      json.addArray("failures") { json in
        for failure in failures { json.append("\(failure.device), \(failure.variant)") }
      }
      json.addArray("failedRuns") { json in
        for failure in failures {
          json.appendObject { json in
            json.add("device", failure.device)
            json.add("variant", failure.variant)
            json.add("value", failure.value)
            if let base = failure.base { json.add("base", base) }
            if !failure.explanation.isEmpty {
              json.addArray("explanation") { json in
                for line in failure.explanation { json.append(line) }
              }
            }
            guard failure.seeds > 1 else { return }
            json.addJSON("seed", String(failure.seed))
            json.add("failedSeeds", failure.failedSeeds)
            json.add("seeds", failure.seeds)
          }
        }
      }
      if !withoutData.isEmpty {
        json.addArray("withoutData") { json in
          for run in withoutData { json.append("\(run.device), \(run.variant)") }
        }
      }
    }
  }
}

extension [ThresholdReport] {
  package var json: String {
    var json = JSONWriter()
    json.appendArray { json in for threshold in self { threshold.append(to: &json) } }
    return String(decoding: json.bytes, as: UTF8.self)
  }
}
