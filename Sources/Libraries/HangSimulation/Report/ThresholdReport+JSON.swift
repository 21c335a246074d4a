import JSON

extension ThresholdReport {
  func addMembers(to json: inout JSONWriter) {
    json.add("text", text)
    json.add("value", value)
    json.add("passed", passed)
    if let skipped { json.add("skipped", skipped) }
    json.addTexts("failures", failures.map { "\($0.device), \($0.variant)" })
    json.addObjects("failedRuns", failures) { failure, json in
      json.add("device", failure.device)
      json.add("variant", failure.variant)
      json.add("value", failure.value)
      if let base = failure.base { json.add("base", base) }
      if !failure.explanation.isEmpty { json.addTexts("explanation", failure.explanation) }
      guard failure.seeds > 1 else { return }
      json.addJSON("seed", String(failure.seed))
      json.add("failedSeeds", failure.failedSeeds)
      json.add("seeds", failure.seeds)
    }
    if !withoutData.isEmpty {
      json.addTexts("withoutData", withoutData.map { "\($0.device), \($0.variant)" })
    }
  }
}

extension [ThresholdReport] {
  package var json: String {
    var json = JSONWriter()
    json.appendArray { json in
      for threshold in self { json.appendObject(threshold.addMembers) }
    }
    return String(decoding: json.bytes, as: UTF8.self)
  }
}
