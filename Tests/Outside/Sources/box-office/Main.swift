import BoxOffice
import HangCommand
import HangSimulation

@main struct Main: HangProgram {
  static func plan() throws -> SimulationPlan { try boxOfficePlan() }
}
