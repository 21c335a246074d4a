import JSON

extension SimulationPlan {
  /// Finds, for each variant on each device, the slowdown of the device at which a condition holds,
  /// such as `hangs > 0`.
  ///
  /// The slowdown, a factor in `range`, is increased by steps of 50 % until the condition holds for
  /// all seeds, or for its percentile. The last step is then bisected to 1 %. If the condition
  /// alternates within one step, the search does not notice. Variants and devices to which the
  /// condition does not apply are skipped. Without `seeds`, the search uses the plan's own seed.
  /// `progress` is called with the number of finished searches and their total number. Throws the
  /// errors of ``run(wantsTrace:progress:)``.
  public func findSlowdown(
    where condition: Threshold, in range: ClosedRange<Double> = 1...64, seeds: [UInt64]? = nil,
    workers: Int = 2, progress: (_ done: Int, _ all: Int) -> Void = { _, _ in }
  ) async throws -> [SearchReport] {
    try await find(.slowdown, condition, range, seeds, workers, progress)
  }

  /// Finds, for each variant on each device, the factor of the event rates at which a condition
  /// holds, such as `hangs > 0`.
  ///
  /// Multiplies the rates of ``EventStream/poisson(every:from:until:make:)`` and
  /// ``EventStream/every(_:from:until:make:)``. Events at given times do not change. The search,
  /// its parameters, and its errors are those of
  /// ``findSlowdown(where:in:seeds:workers:progress:)``, except that `range` contains factors for
  /// the rates.
  public func findLoad(
    where condition: Threshold, in range: ClosedRange<Double> = 1...64, seeds: [UInt64]? = nil,
    workers: Int = 2, progress: (_ done: Int, _ all: Int) -> Void = { _, _ in }
  ) async throws -> [SearchReport] {
    try await find(.load, condition, range, seeds, workers, progress)
  }

  private func find(
    _ quantity: SearchReport.Quantity, _ condition: Threshold, _ range: ClosedRange<Double>,
    _ seeds: [UInt64]?, _ workers: Int, _ progress: (_ done: Int, _ all: Int) -> Void
  ) async throws -> [SearchReport] {
    try checkScope(of: condition)
    var found: [SearchReport] = []
    for device in devices {
      for variant in variants where condition.concerns(device: device.name, variant: variant.name) {
        var plan = self
        (plan.devices, plan.variants, plan.thresholds) = ([device], [variant], [condition])
        // Removes the limits, because the search includes devices that fall behind without limit.
        plan.limits = .none
        let bounds = try await Self.bisect(range) { factor in
          try await plan.multiplied(quantity, by: factor)
            .holds(condition, seeds ?? [seed], workers)
        }
        found.append(
          SearchReport(
            quantity: quantity, device: device.name, variant: variant.name,
            condition: condition.text, deviceSlowdown: Double(device.slowdown) / 1_000_000,
            range: range, holdsFrom: bounds.high, holdsNotAt: bounds.low))
        progress(found.count, devices.count * variants.count)
      }
    }
    return found
  }

  private func multiplied(_ quantity: SearchReport.Quantity, by factor: Double) -> SimulationPlan {
    var plan = self
    switch quantity {
    case .load: plan.load = Int64((Double(load) * factor).rounded())
    case .slowdown:
      // The device keeps its name, because the condition may refer to the name.
      plan.devices = devices.map { device in
        Device(
          profile: device.slowed(by: factor).profile, name: device.name,
          conditions: device.conditions)
      }
    }
    return plan
  }

  private func holds(
    _ condition: Threshold, _ seeds: [UInt64], _ workers: Int
  ) async throws -> Bool {
    let report = try await sweep(seeds: seeds, workers: workers)
    try check([condition], against: report.reports.flatMap(\.runs))
    if let skipped = report.thresholds.first?.skipped {
      throw SimulationProblem(description: "\(condition.text): \(skipped)")
    }
    return report.isPassed
  }

  /// Returns the highest tried factor that fails the condition, and the lowest that meets it.
  private static func bisect(
    _ range: ClosedRange<Double>, _ holds: (Double) async throws -> Bool
  ) async throws -> (low: Double?, high: Double?) {
    var high = range.lowerBound
    guard !(try await holds(high)) else { return (nil, high) }
    var low = high
    repeat {
      guard high < range.upperBound else { return (high, nil) }
      low = high
      high = min(range.upperBound, high * 1.5)
    } while !(try await holds(high))
    while high / low > 1.01 {
      let middle = (low * high).squareRoot()
      if try await holds(middle) { high = middle } else { low = middle }
    }
    return (low, high)
  }
}

/// The slowdown of a device, or the load, at which a condition holds.
public struct SearchReport: Sendable, Hashable {
  /// The multiplied quantity.
  public enum Quantity: String, Sendable, CaseIterable {
    /// The cost of everything on the device.
    case slowdown
    /// The rates of the events.
    case load
  }

  /// The multiplied quantity.
  public let quantity: Quantity
  /// The device of the runs.
  public let device: String
  /// The variant of the runs.
  public let variant: String
  /// The condition.
  public let condition: String
  /// The slowdown of the device itself, relative to the reference device.
  public let deviceSlowdown: Double
  /// The tried factors, relative to the plan.
  public let range: ClosedRange<Double>
  /// The lowest tried factor at which the condition holds; `nil` if it holds nowhere in the range.
  public let holdsFrom: Double?
  /// The highest tried factor at which the condition does not hold; `nil` if it holds at the start
  /// of the range.
  public let holdsNotAt: Double?

  /// The result as one line of text.
  public var line: String {
    func text(_ factor: Double) -> String {
      FixedPoint.text(Int64((factor * 1_000).rounded()), decimals: 3, trimmed: true) + " x"
    }
    let unit = quantity == .load ? " the load" : ""
    let subject = "\(device), \(variant): \(condition)"
    guard let holdsFrom else {
      return "\(subject) is not true up to \(text(range.upperBound))\(unit)"
    }
    let absolute =
      quantity == .load
      ? ""
      : ", \(text(holdsFrom * deviceSlowdown).dropLast(2)) times as slow as the reference device"
    guard let holdsNotAt else {
      return "\(subject) is already true at \(text(holdsFrom))\(unit)\(absolute)"
    }
    return "\(subject) is true at \(text(holdsFrom))\(unit)\(absolute), not at \(text(holdsNotAt))"
  }
}

extension [SearchReport] {
  /// The results as one line of JSON, with factors relative to the plan.
  public var json: String {
    JSONWriter.text { json in
      json.addObjects(first?.quantity == .load ? "loads" : "slowdowns", self) { found, json in
        json.add("device", found.device)
        json.add("variant", found.variant)
        json.add("condition", found.condition)
        json.add("deviceSlowdown", found.deviceSlowdown)
        json.add("holdsFrom", found.holdsFrom)
        json.add("holdsNotAt", found.holdsNotAt)
      }
    }
  }
}
