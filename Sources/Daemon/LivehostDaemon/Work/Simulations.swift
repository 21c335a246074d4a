package import ControlInterface
import Foundation
import HangSimulation
import JSON
package import Rooms
import Simulation
import Varlink
import YAMLReader

/// Runs scenarios for clients, on threads that rooms do not use.
package struct Simulations: Sendable {
  private let executor: WorkExecutor
  private let slots: WorkSlots
  /// The shortest duration of a simulation after which free memory is returned to the system.
  ///
  /// After a shorter simulation there is little to return, and returning memory blocks other
  /// threads that allocate.
  private static let longRun = Duration.milliseconds(200)

  /// - Parameter slots: The slots, shared with all other CPU-intensive work.
  package init(executor: WorkExecutor, slots: WorkSlots) {
    self.executor = executor
    self.slots = slots
  }

  /// Runs a simulation and returns its report. Throws ``ControlError`` or `CancellationError`.
  package func run(
    _ request: SimulateRequest, progress: @escaping @Sendable (Int) -> Void
  ) async throws -> SimulateReply {
    let options = try SimulationOptions(request)
    do {
      return try await slots.run {
        try await withTaskExecutorPreference(executor) {
          let start = ContinuousClock.now
          // Free memory is returned after `reply` has returned, when the memory of all runs is
          // free.
          defer { if start.duration(to: .now) > Self.longRun { FreeMemory.returnToSystem() } }
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
  /// The maximum length of a name, setting or threshold in bytes; paths have the same limit.
  private static let longestText = 4096
  /// The maximum decompressed size of recordings, in bytes. Decoded events take several times as
  /// much memory.
  private static let longestRecordings = 64 << 20

  /// Rejects texts that are so long that comparing them takes long.
  private static func check(_ texts: [String], _ parameter: String) throws(ServiceError) {
    for text in texts where text.utf8.count > longestText || !text.hasShortMarkRuns {
      throw .invalidParameter(parameter)
    }
  }

  /// Creates the options of a request. The scenario can read only the files in the request.
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
  /// Creates the reply. Yields between the formats of the report, because each of them takes
  /// several milliseconds after many runs.
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
