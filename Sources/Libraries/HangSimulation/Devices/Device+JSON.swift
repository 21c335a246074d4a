import JSON

extension Device {
  /// The device as one line of JSON, for ``init(json:)``. Costs are in nanoseconds on the reference
  /// device; the slowdown includes the device's conditions.
  public var json: String {
    JSONWriter.text { json in
      json.add("name", name)
      json.add("refreshRate", profile.refreshRate)
      json.add("cores", profile.cores)
      json.addJSON("slowdown", FixedPoint.text(slowdown, decimals: 6, trimmed: true))
      json.addObject("costs") { json in profile.costs.append(to: &json) }
    }
  }

  /// Reads a device written by ``json`` or `calibrate --output`.
  ///
  /// - Throws: ``SimulationProblem`` that names the invalid member.
  public init(json bytes: [UInt8]) throws(SimulationProblem) {
    let json: JSONValue
    do { json = try JSONValue(parsing: String(decoding: bytes, as: UTF8.self)) } catch {
      throw SimulationProblem(description: "is not valid JSON: \(error)")
    }
    guard let name = json["name"]?.stringValue, let costs = json["costs"] else {
      throw SimulationProblem(description: "is not a device: 'name' or 'costs' is missing")
    }
    func number(_ key: String, _ range: ClosedRange<Double>, or absent: Double)
      throws(SimulationProblem)
      -> Double
    {
      guard let value = json[key] else { return absent }
      guard let number = value.double, range.contains(number) else {
        throw SimulationProblem(
          description: "'\(key)' must be a number from \(range.lowerBound) to \(range.upperBound)")
      }
      return number
    }
    let profile = DeviceProfile(
      name: name, title: name, refreshRate: Int(try number("refreshRate", 1...240, or: 60)),
      cores: Int(try number("cores", 1...256, or: 2)),
      slowdown: Int64((try number("slowdown", 0.01...1_000, or: 1) * 1e6).rounded()),
      conditions: [], costs: try DeviceProfile.Costs(costs))
    self.init(profile: profile, name: name, conditions: [])
  }
}

extension DeviceProfile.Costs {
  fileprivate func append(to json: inout JSONWriter) {
    json.add("action", Int(action))
    json.add("element", Int(element))
    json.addObject("actions") { json in json.addCosts(actions) }
    if !actionFields.isEmpty {
      json.addObject("actionFields") { json in
        for (name, fields) in actionFields.sorted(by: { $0.key < $1.key }) {
          json.name(text: name)
          json.appendObject { json in json.addCosts(fields) }
        }
      }
    }
    json.addObject("view") { json in view.append(to: &json) }
    json.addObject("views") { json in
      for (name, cost) in views.sorted(by: { $0.key < $1.key }) {
        json.name(text: name)
        json.appendObject { json in cost.append(to: &json) }
      }
    }
    json.addTexts("measured", measured.sorted())
  }

  fileprivate init(_ json: JSONValue) throws(SimulationProblem) {
    self.init()
    action = try json.cost("action")
    element = try json.cost("element")
    view = try DeviceProfile.ViewCost(json["view"])
    actions = try json["actions"]?.costs() ?? [:]
    for (name, fields) in json["actionFields"]?.objectValue ?? [:] {
      actionFields[name.text] = try fields.costs()
    }
    for (name, cost) in json["views"]?.objectValue ?? [:] {
      views[name.text] = try DeviceProfile.ViewCost(cost)
    }
    measured = Set((json["measured"]?.arrayValue ?? []).compactMap(\.stringValue))
  }
}

extension DeviceProfile.ViewCost {
  fileprivate func append(to json: inout JSONWriter) {
    json.add("evaluation", Int(evaluation))
    json.add("element", Int(element))
    json.add("appearance", Int(appearance))
    if !fields.isEmpty { json.addObject("fields") { json in json.addCosts(fields) } }
  }

  fileprivate init(_ json: JSONValue?) throws(SimulationProblem) {
    guard let json else { return }
    evaluation = try json.cost("evaluation")
    element = try json.cost("element")
    appearance = try json.cost("appearance")
    fields = try json["fields"]?.costs() ?? [:]
  }
}

extension JSONWriter {
  fileprivate mutating func addCosts(_ costs: [String: Int64]) {
    for (name, cost) in costs.sorted(by: { $0.key < $1.key }) {
      self.name(text: name)
      appendJSON(String(cost))
    }
  }
}

extension JSONValue {
  fileprivate func costs() throws(SimulationProblem) -> [String: Int64] {
    var costs: [String: Int64] = [:]
    for (name, _) in objectValue ?? [:] { costs[name.text] = try cost(name.text) }
    return costs
  }

  /// Returns a cost in nanoseconds; 0 if the member is missing.
  fileprivate func cost(_ name: String) throws(SimulationProblem) -> Int64 {
    guard let value = self[name] else { return 0 }
    guard let number = value.double, (0...1e13).contains(number) else {
      throw SimulationProblem(
        description: "the cost '\(name)' must be a number of nanoseconds, such as 2000000")
    }
    return Int64(number.rounded())
  }
}
