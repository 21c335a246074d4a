import ArgumentParser
import HangCommand
import Simulation

struct SweepVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "sweep", abstract: SweepOptions.abstract,
    discussion: """
      \(SweepOptions.discussion)

      Runs in this process and needs no daemon. Exits with 99 if a threshold is not met, and with \
      78 if the scenario or a device profile is invalid.

      JSON: an object with version, scenario, seeds, digest, thresholds and runs; with --find, an \
      object with slowdowns or loads.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "The scenario, a YAML file.", completion: .file(extensions: ["yaml", "yml"]))
  var scenario: String
  @OptionGroup var changes: ScenarioChanges
  @OptionGroup var sweep: SweepOptions
  @OptionGroup var files: ReportFiles

  func validate() throws {
    try global.refuseSocket(of: "sweep")
    try sweep.refuse(files)
    _ = try isSilent
  }

  private var isSilent: Bool {
    get throws { try files.replaceOutput([sweep.html], json: global.wantsJSON) }
  }

  func run(_ context: Context) async throws {
    try await context.simulate(
      scenario, changes, files, isSilent: isSilent, sweep.run)
  }
}
