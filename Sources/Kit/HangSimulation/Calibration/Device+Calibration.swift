extension Device {
  /// This device with the costs that traces of it show. What they do not show stays as it is, and counts as assumed.
  ///
  ///     let phone = try guess.calibrated(by: [trace], for: plan)
  ///     #expect(phone.profile.costs.measured.contains("CartView.evaluation"))
  ///
  /// The costs of a device are those of a reference device: what was measured is divided by the slowdown of this device. If
  /// it is under conditions, so were the traces. See <doc:MeasuredCosts> for what can be read.
  ///
  /// - Parameters:
  ///   - traces: contents of files.
  ///   - plan: shows which views and actions there are: its first variant is run on its first device.
  /// - Throws: ``CalibrationProblem``, ``SimulationProblem``.
  public func calibrated(by traces: [[UInt8]], for plan: SimulationPlan) throws -> Device {
    let read = try traces.map { try MeasuredTrace($0) }
    return calibrated(try Calibration(read, plan.names()), named: name)
  }

  /// This device with the costs that its screen has on this machine, for which the first variant of the plan is run three
  /// times. See <doc:MeasuredCosts>.
  ///
  /// - Parameter now: monotonic nanoseconds.
  /// - Throws: ``CalibrationProblem``, ``SimulationProblem``, `CancellationError`.
  public func calibratedHere(
    for plan: SimulationPlan, now: @escaping () -> UInt64
  ) throws -> Device {
    calibrated(try plan.calibratedHere(now: now).calibration, named: name)
  }

  package func calibrated(_ calibration: Calibration, named name: String) -> Device {
    var profile = profile
    profile.slowdown = slowdown
    profile.conditions = []
    profile.name = name
    return Device(profile: calibration.applied(to: profile), name: name, conditions: [])
  }
}
