package import ControlInterface
import Foundation
import HangSimulation
import JSON
import Simulation
import Varlink
import YAMLReader

/// Runs scenarios for clients, on threads that are not used by rooms.
package struct Simulations: Sendable {
  private let executor: WorkExecutor
  private let slots: WorkSlots
  /// A simulation that took longer may have left much free memory behind. After a shorter one it is not worth the time in
  /// which others cannot allocate.
  private static let longRun = Duration.milliseconds(200)

  /// - Parameter slots: shared with all other work that is heavy on the CPU.
  package init(executor: WorkExecutor, slots: WorkSlots) {
    self.executor = executor
    self.slots = slots
  }

  /// - Throws: ``ControlError``, `CancellationError`.
  package func run(
    _ request: SimulateRequest, progress: @escaping @Sendable (Int) -> Void
  ) async throws -> SimulateReply {
    let options = try SimulationOptions(request)
    do {
      return try await slots.run {
        try await withTaskExecutorPreference(executor) {
          let start = ContinuousClock.now
          // Here and not in what is called: everything that the runs held has been released by then.
          defer { if start.duration(to: .now) > Self.longRun { FreeMemory.giveBack() } }
          return try await Self.reply(to: request, options, progress: progress)
        }
      }
    } catch let error as ConfigurationError {
      throw ControlError.invalidScenario(
        file: error.file, line: error.line, key: error.key, message: error.message)
    } catch is WorkSlots.Full {
      throw ControlError.limitReached("tasks")
    }
  }

  private static func reply(
    to request: SimulateRequest, _ options: SimulationOptions,
    progress: @escaping @Sendable (Int) -> Void
  ) async throws -> SimulateReply {
    let outcome = try await simulate(
      scenarioText: request.scenario, options: options, progress: progress)
    return try await SimulateReply(outcome, wantsPage: request.wantsPage)
  }
}

extension SimulationOptions {
  /// The longest name, setting or threshold, in bytes: as long as a path may be.
  private static let longestText = 4096
  /// How long recordings may be once they are inflated, in bytes: as events they take several times as much.
  private static let longestRecordings = 64 << 20

  /// Refuses texts that would take long to compare.
  private static func check(_ texts: [String], _ parameter: String) throws(ServiceError) {
    for text in texts where text.utf8.count > longestText || !text.hasShortMarkRuns {
      throw .invalidParameter(parameter)
    }
  }

  /// The only files are those of the request.
  fileprivate init(_ request: SimulateRequest) throws {
    try Self.check([request.path], "path")
    try Self.check(request.files.map(\.path), "files")
    try Self.check(request.devices, "devices")
    try Self.check(request.variants, "variants")
    try Self.check(request.settings, "settings")
    try Self.check(request.thresholds, "thresholds")
    var contents: [String: [UInt8]] = [:]
    for (index, file) in request.files.enumerated() {
      guard let data = Data(base64Encoded: file.contents) else {
        throw ServiceError.invalidParameter("files[\(index)].contents")
      }
      contents[file.path] = Array(data)
    }
    let names = contents.keys.sorted()
    self.init(
      path: request.path,
      files: ScenarioFiles(
        read: { [contents] in contents[$0] },
        list: { directory in
          let prefix = directory.isEmpty ? "" : directory + "/"
          return names.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
            .filter { !$0.contains("/") }
        }))
    devices = request.devices
    variants = request.variants
    seed = request.seed.map { UInt64(bitPattern: Int64($0)) }
    settings = request.settings
    thresholds = request.thresholds
    wantsTrace = request.wantsTrace
    recordingLimit = Self.longestRecordings
  }
}

extension SimulateReply {
  /// Yields between the forms of the report, each of which takes some milliseconds if there were many runs.
  fileprivate init(_ outcome: SimulationOutcome, wantsPage: Bool) async throws {
    self.init(percent: 100)
    let json = outcome.report.json
    try await SimulationSlice.end()
    report = try JSONValue(parsing: json)
    try await SimulationSlice.end()
    lines = outcome.report.lines
    missed = outcome.report.thresholds.filter(\.isMissed).map(\.line)
    try await SimulationSlice.end()
    page = wantsPage ? outcome.report.html : nil
    trace = outcome.trace
  }
}
