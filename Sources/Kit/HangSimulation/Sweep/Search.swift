import JSON

extension SimulationPlan {
  /// Finds for each variant on each device how slow the device has to be for a condition to hold, such as
  /// `hangs > 0`.
  ///
  /// The device is made slower in steps of half as much again until the condition holds, then the last step is
  /// bisected to 1 %. A condition that holds, does not hold and holds again within one step is not noticed. Variants and
  /// devices that the condition is not about are left out.
  ///
  /// - Parameters:
  ///   - condition: has to hold for all seeds, or for the percentile that it asks for.
  ///   - range: how many times slower than it is the device is made.
  ///   - seeds: `nil` for the plan's own.
  ///   - progress: called with the number of runs that are done, and with how many there are.
  /// - Throws: what ``run(wantsTrace:progress:)`` throws.
  public func findSlowdown(
    where condition: Threshold, in range: ClosedRange<Double> = 1...64, seeds: [UInt64]? = nil,
    workers: Int = 2, progress: (_ done: Int, _ all: Int) -> Void = { _, _ in }
  ) async throws -> [SearchReport] {
    try await find(.slowdown, condition, range, seeds, workers, progress)
  }

  /// Finds for each variant on each device how many times as many events have to come for a condition to hold, such as
  /// `hangs > 0`.
  ///
  /// The rates of ``EventStream/poisson(every:from:until:make:)`` and ``EventStream/every(_:from:until:make:)`` are multiplied, as
  /// ``findSlowdown(where:in:seeds:workers:progress:)`` multiplies what things cost. Events at given times stay as they are.
  ///
  /// - Parameters:
  ///   - condition: has to hold for all seeds, or for the percentile that it asks for.
  ///   - range: the factors of the rates.
  ///   - seeds: `nil` for the plan's own.
  ///   - progress: called with the number of runs that are done, and with how many there are.
  /// - Throws: what ``run(wantsTrace:progress:)`` throws.
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
        // A device that falls behind without end is searched too.
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
      // The names stay, which the condition may ask for.
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

  /// The highest factor found at which it does not hold, and the lowest at which it does.
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

/// How slow a device has to be, or how many events have to come, for a condition to hold.
public struct SearchReport: Sendable, Hashable {
  /// What was multiplied.
  public enum Quantity: String, Sendable, CaseIterable {
    /// What everything costs on the device.
    case slowdown
    /// The rates of events.
    case load
  }

  /// What was multiplied.
  public let quantity: Quantity
  /// The device of the runs.
  public let device: String
  /// The variant that ran on it.
  public let variant: String
  /// What has to hold.
  public let condition: String
  /// How slow the device itself is, relative to the reference device.
  public let deviceSlowdown: Double
  /// The factors that were tried, relative to the plan.
  public let range: ClosedRange<Double>
  /// The lowest factor that was found at which it holds; `nil` if it does not in all of the range.
  public let holdsFrom: Double?
  /// The highest factor below at which it does not; `nil` if it holds already at the beginning of the range.
  public let holdsNotAt: Double?

  /// One line for people.
  public var line: String {
    func text(_ factor: Double) -> String {
      FixedPoint.text(Int64((factor * 1_000).rounded()), decimals: 3, trimmed: true) + " x"
    }
    let unit = quantity == .load ? " the load" : ""
    let place = "\(device), \(variant): \(condition)"
    guard let holdsFrom else {
      return "\(place) does not hold up to \(text(range.upperBound))\(unit)"
    }
    let absolute =
      quantity == .load
      ? ""
      : ", \(text(holdsFrom * deviceSlowdown).dropLast(2)) times as slow as the reference device"
    guard let holdsNotAt else {
      return "\(place) holds already at \(text(holdsFrom))\(unit)\(absolute)"
    }
    return "\(place) from \(text(holdsFrom))\(unit) on\(absolute); not yet at \(text(holdsNotAt))"
  }
}

extension [SearchReport] {
  /// As JSON on one line, factors relative to the plan.
  public var json: String {
    var json = JSONWriter()
    json.appendObject { json in
      json.addArray(first?.quantity == .load ? "loads" : "slowdowns") { json in
        for found in self {
          json.appendObject { json in
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
    return String(decoding: json.bytes, as: UTF8.self)
  }
}
