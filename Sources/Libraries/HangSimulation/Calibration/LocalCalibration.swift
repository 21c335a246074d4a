import JSON
import ViewGraph

/// The costs of a screen on this machine, and the measured and simulated durations of the frames of
/// a second run.
package struct LocalCalibration: Sendable {
  /// The measured and simulated durations of a frame, including the preceding reductions, in
  /// nanoseconds.
  package struct Frame: Hashable, Sendable {
    package var simulated: Int64
    package var measured: Int64
  }

  package let calibration: Calibration
  /// The frames of the second run, which uses a different seed.
  package let frames: [Frame]
}

extension SimulationPlan {
  /// Measures the actions and evaluations of the first variant on this machine, fits costs to the
  /// measurements, and then measures again while it simulates a device with the fitted costs.
  /// `names` are by default the names that the screen shows; `now` returns monotonic nanoseconds.
  ///
  /// - Throws: ``SimulationProblem``, ``CalibrationProblem``, `CancellationError`.
  package func calibratedHere(
    _ names: Calibration.Names? = nil, now: @escaping () -> UInt64,
    progress: (_ percent: Int) -> Void = { _ in }
  ) throws -> LocalCalibration {
    guard let variant = variants.first else { throw CalibrationProblem("the plan has no variant") }
    var plan = self
    func run(
      _ profile: DeviceProfile, _ part: Int
    ) throws -> (measurements: [CostMeasurement], frames: [LocalCalibration.Frame]) {
      let recorder = CostRecorder(now: now)
      let device = Device(profile: profile, name: profile.name, conditions: [])
      let run = try SimulatedRun(plan, device, variant, recorder: recorder)
      while run.advance(work: SimulationSlice.work) { try Task.checkCancellation() }
      progress(part * 100 / 3)
      let measured = recorder.measured(
        on: device, for: plan.duration, reads: run.screen.views.reads)
      return (measured, recorder.frames)
    }
    var free = DeviceProfile(
      name: "here", title: "This machine", refreshRate: variant.framesPerSecond ?? 60, cores: 2,
      slowdown: 1_000_000, conditions: [], costs: DeviceProfile.Costs())
    // The first run fills caches and tables.
    _ = try run(free, 1)
    let measured = try run(free, 2)
    let calibration = try Calibration(
      measured.measurements, names ?? self.names(), observesState: true)
    free = calibration.applied(to: free)
    plan.seed &+= 1
    return LocalCalibration(calibration: calibration, frames: try run(free, 3).frames)
  }
}

extension LocalCalibration {
  /// Returns the median and the 95th percentile of a figure over the frames.
  private func quantiles(_ figure: (Frame) -> Double) -> (half: Double, most: Double) {
    let sorted = frames.map(figure).sorted()
    return (sorted.quantile(0.5), sorted.quantile(0.95))
  }

  /// Spearman's rank correlation of the measured and the simulated durations.
  package var correlation: Double {
    guard frames.count > 1 else { return 0 }
    let (left, right) = (Self.ranks(frames.map(\.simulated)), Self.ranks(frames.map(\.measured)))
    let mean = Double(frames.count - 1) / 2
    func product(_ one: [Double], _ other: [Double]) -> Double {
      zip(one, other).reduce(0) { $0 + ($1.0 - mean) * ($1.1 - mean) }
    }
    let spread = (product(left, left) * product(right, right)).squareRoot()
    return spread > 0 ? product(left, right) / spread : 0
  }

  /// Returns the ranks of numbers. Equal numbers share the mean of their ranks.
  private static func ranks(_ numbers: [Int64]) -> [Double] {
    let order = numbers.indices.sorted { numbers[$0] < numbers[$1] }
    var ranks = Array(repeating: 0.0, count: numbers.count)
    var start = 0
    while start < order.count {
      var end = start + 1
      while end < order.count, numbers[order[end]] == numbers[order[start]] { end += 1 }
      for place in start..<end { ranks[order[place]] = Double(start + end - 1) / 2 }
      start = end
    }
    return ranks
  }

  /// The text report.
  package var lines: [String] {
    func time(_ nanoseconds: Double) -> String {
      FixedPoint.milliseconds(Int64(min(nanoseconds, 1e15)), decimals: 3) + " ms"
    }
    let (measured, simulated) = (
      quantiles { Double($0.measured) }, quantiles { Double($0.simulated) }
    )
    let ratio = quantiles { Double($0.measured) / Double(max($0.simulated, 1)) }
    let hundredths = Int64((correlation * 100).rounded())
    let median = FixedPoint.text(Int64((min(ratio.half, 1e6) * 100).rounded()), decimals: 2)
    return calibration.lines + [
      "",
      "\(frames.count) frames of another run: measured \(time(measured.half)) "
        + "(95 %: \(time(measured.most))), simulated "
        + "\(time(simulated.half)) (95 %: \(time(simulated.most)))",
      "The median ratio of measured to simulated time is \(median); "
        + "rank correlation \(FixedPoint.text(hundredths, decimals: 2))",
    ]
  }

  /// The report as one line of JSON, with times in nanoseconds.
  package var json: String {
    JSONWriter.text { json in
      json.name("calibration")
      json.appendJSON(calibration.json)
      json.add("correlation", correlation)
      json.addObjects("frames", frames) { frame, json in
        json.add("simulated", Int(frame.simulated))
        json.add("measured", Int(frame.measured))
      }
    }
  }

  // MARK: The picture

  /// A scatter plot of the frames as SVG: simulated time on the horizontal axis, measured time on
  /// the vertical axis, both on the same logarithmic scale.
  package var scatter: String {
    let (size, margin) = (420, 48)
    let all = frames.flatMap { [$0.simulated, $0.measured] }.filter { $0 > 0 }
    let lowest = Self.powers(all.min() ?? 1_000).below
    let highest = max(Self.powers(all.max() ?? 1_000_000).above, lowest + 1)
    func place(_ nanoseconds: Int64) -> Double {
      let logarithm = Self.logarithm(Double(max(nanoseconds, 1)))
      let share = (logarithm - Double(lowest)) / Double(highest - lowest)
      return min(max(share, 0), 1) * Double(size - 2 * margin)
    }
    func tenths(_ number: Double) -> String {
      FixedPoint.text(Int64((number * 10).rounded()), decimals: 1)
    }
    func x(_ time: Int64) -> String { tenths(Double(margin) + place(time)) }
    func y(_ time: Int64) -> String { tenths(Double(size - margin) - place(time)) }
    var svg = """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(size) \(size)" font-family="sans-serif" font-size="11">
      <rect width="\(size)" height="\(size)" fill="#ffffff"/>

      """
    var power = Self.power(lowest)
    for _ in lowest...highest {
      let label = Self.label(power)
      svg += "<path d=\"M\(x(power)) \(margin)V\(size - margin)"
      svg += "M\(margin) \(y(power))H\(size - margin)\" stroke=\"#d0d0d0\" fill=\"none\"/>\n"
      svg += "<text x=\"\(x(power))\" y=\"\(size - margin + 14)\" text-anchor=\"middle\">"
      svg += "\(label)</text>\n"
      svg += "<text x=\"\(margin - 4)\" y=\"\(y(power))\" text-anchor=\"end\">\(label)</text>\n"
      power *= 10
    }
    let end = Self.power(highest)
    svg += "<path d=\"M\(margin) \(size - margin)L\(x(end)) \(y(end))\""
    svg += " stroke=\"#808080\" stroke-dasharray=\"4 3\"/>\n"
    svg += "<text x=\"\(size / 2)\" y=\"\(size - 12)\" text-anchor=\"middle\">simulated</text>\n"
    svg += "<text x=\"14\" y=\"\(size / 2)\" text-anchor=\"middle\""
    svg += " transform=\"rotate(-90 14 \(size / 2))\">measured</text>\n"
    // Coinciding points are drawn once.
    let points = Set(frames.map { "cx=\"\(x($0.simulated))\" cy=\"\(y($0.measured))\"" })
    for point in points.sorted() {
      svg += "<circle \(point) r=\"1.5\" fill=\"#1f5fa8\" opacity=\"0.5\"/>\n"
    }
    return svg + "</svg>\n"
  }

  /// Returns the exponents of the powers of ten around a number.
  private static func powers(_ number: Int64) -> (below: Int, above: Int) {
    var below = 0
    while power(below + 1) <= number { below += 1 }
    return (below, power(below) == number ? below : below + 1)
  }

  private static func power(_ exponent: Int) -> Int64 {
    (0..<min(exponent, 18)).reduce(1) { product, _ in product * 10 }
  }

  /// Returns the decimal logarithm, interpolated within powers of two, as a plot needs it.
  private static func logarithm(_ number: Double) -> Double {
    (Double(number.exponent) + (number.significand - 1)) * 0.301_029_995_663_981_2
  }

  private static func label(_ nanoseconds: Int64) -> String {
    switch nanoseconds {
    case ..<1_000: "\(nanoseconds) ns"
    case ..<1_000_000: "\(nanoseconds / 1_000) µs"
    case ..<1_000_000_000: "\(nanoseconds / 1_000_000) ms"
    default: "\(nanoseconds / 1_000_000_000) s"
    }
  }
}
