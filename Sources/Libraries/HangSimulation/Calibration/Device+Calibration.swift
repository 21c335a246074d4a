extension Device {
  /// Returns this device with the costs that are measured in traces of the device. Costs that the
  /// traces do not contain are kept and count as assumed.
  ///
  ///     let phone = try guess.calibrated(by: [trace], for: plan)
  ///     #expect(phone.profile.costs.measured.contains("CartView.evaluation"))
  ///
  /// Costs are stored relative to a reference device, so measured costs are divided by this
  /// device's slowdown. If the device is under conditions, the traces must have been recorded under
  /// the same conditions. The first variant of `plan` runs on its first device to provide the names
  /// of views and actions. For the supported formats, see <doc:MeasuredCosts>.
  ///
  /// - Throws: ``CalibrationProblem``, ``SimulationProblem``.
  public func calibrated(by traces: [[UInt8]], for plan: SimulationPlan) throws -> Device {
    let read = try traces.map { try MeasuredTrace($0) }
    return calibrated(try Calibration(read, plan.names()), named: name)
  }

  /// Returns this device with the costs of the plan's screen, measured on this machine. Runs the
  /// first variant of the plan three times. See <doc:MeasuredCosts>.
  ///
  /// - Parameter now: Returns monotonic nanoseconds.
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
